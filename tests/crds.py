"""What KEDA and the Prometheus operator take, as far as we use it: kinds without a schema in kubernetes-validate."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import kubernetes_validate
from pydantic import BaseModel, ConfigDict, Field

Duration = Annotated[str, Field(pattern=r"^\d+(ms|s|m|h)$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Metadata(_Strict):
    name: str
    namespace: str = ""
    labels: dict[str, str] = {}


class _TargetRef(_Strict):
    apiVersion: Literal["apps/v1"]
    kind: Literal["StatefulSet", "Deployment"]
    name: str


class _Policy(_Strict):
    type: Literal["Percent", "Pods"]
    value: Annotated[int, Field(gt=0)]
    periodSeconds: Annotated[int, Field(gt=0, le=1_800)]


class _Direction(_Strict):
    stabilizationWindowSeconds: Annotated[int, Field(ge=0, le=3_600)] | None = None
    policies: list[_Policy]


class _Behavior(_Strict):
    scaleUp: _Direction
    scaleDown: _Direction


class _Autoscaler(_Strict):
    behavior: _Behavior


class _Advanced(_Strict):
    horizontalPodAutoscalerConfig: _Autoscaler


class MetricsApi(_Strict):
    """All are texts: KEDA refuses a number here."""

    url: Annotated[str, Field(pattern=r"^http://[a-z]+:\d+/[a-z]+(\?tier=[a-z]+)?$")]
    valueLocation: str
    targetValue: Annotated[str, Field(pattern=r"^\d+(\.\d+)?$")]
    activationTargetValue: Annotated[str, Field(pattern=r"^\d+(\.\d+)?$")]


class _Trigger(_Strict):
    type: Literal["metrics-api"]
    metadata: MetricsApi


class _ScaledObjectSpec(_Strict):
    scaleTargetRef: _TargetRef
    pollingInterval: Annotated[int, Field(gt=0)]
    cooldownPeriod: Annotated[int, Field(ge=0)]
    minReplicaCount: Annotated[int, Field(ge=0)]
    maxReplicaCount: Annotated[int, Field(gt=0)]
    advanced: _Advanced
    triggers: Annotated[list[_Trigger], Field(min_length=1)]


class ScaledObject(_Strict):
    apiVersion: Literal["keda.sh/v1alpha1"]
    kind: Literal["ScaledObject"]
    metadata: _Metadata
    spec: _ScaledObjectSpec


class _Endpoint(_Strict):
    port: str
    path: str
    interval: Duration
    scrapeTimeout: Duration


class _Expression(_Strict):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str]


class _Selector(_Strict):
    matchExpressions: list[_Expression]


class _PodMonitorSpec(_Strict):
    selector: _Selector
    podMetricsEndpoints: Annotated[list[_Endpoint], Field(min_length=1)]


class PodMonitor(_Strict):
    apiVersion: Literal["monitoring.coreos.com/v1"]
    kind: Literal["PodMonitor"]
    metadata: _Metadata
    spec: _PodMonitorSpec


class _Rule(_Strict):
    record: str | None = None
    alert: str | None = None
    expr: str
    for_: Annotated[Duration | None, Field(alias="for")] = None
    keep_firing_for: Duration | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Group(_Strict):
    name: str
    interval: Duration | None = None
    rules: Annotated[list[_Rule], Field(min_length=1)]


class _RuleSpec(_Strict):
    groups: Annotated[list[_Group], Field(min_length=1)]


class PrometheusRule(_Strict):
    apiVersion: Literal["monitoring.coreos.com/v1"]
    kind: Literal["PrometheusRule"]
    metadata: _Metadata
    spec: _RuleSpec


_OURS: Final[dict[str, type[_Strict]]] = {
    "ScaledObject": ScaledObject,
    "PodMonitor": PodMonitor,
    "PrometheusRule": PrometheusRule,
}


_ACCEPTED: Final[set[tuple[str, str]]] = set()  # most are the same in each overlay, and all schemas are read for each


def validate(document: dict[str, Any], release: str) -> None:
    """Raise where Kubernetes *release*, or the operator of that kind, would refuse *document*."""
    if (model := _OURS.get(document["kind"])) is not None:
        model.model_validate(document)
    elif (key := (repr(document), release)) not in _ACCEPTED:
        assert kubernetes_validate.validate(document, release, strict=True) == release
        _ACCEPTED.add(key)

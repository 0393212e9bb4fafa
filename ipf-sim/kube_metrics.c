#include "kube_metrics.h"

#include "exposition.h"

void kube_metrics_write(const struct replicas *r, struct buffer *out)
{
	const struct exposition_plain deployment[] = {
		{"gauge", "kube_deployment_spec_replicas", "[STABLE] Number of desired pods for a deployment.",
	     (double)r->desired},
		{"gauge", "kube_deployment_status_replicas", "[STABLE] The number of replicas per deployment.",
	     (double)r->desired},
		{"gauge", "kube_deployment_status_replicas_ready", "[STABLE] The number of ready replicas per deployment.",
	     (double)r->ready},
		{"gauge", "kube_deployment_status_replicas_available",
	     "[STABLE] The number of available replicas per deployment.", (double)r->ready},
		{"gauge", "kube_deployment_status_replicas_unavailable",
	     "[STABLE] The number of unavailable replicas per deployment.", (double)(r->desired - r->ready)},
		{"gauge", "kube_deployment_status_replicas_updated", "[STABLE] The number of updated replicas per deployment.",
	     (double)r->desired},
	};
	const struct exposition_plain autoscaler[] = {
		{"gauge", "kube_horizontalpodautoscaler_spec_min_replicas",
	     "[STABLE] Lower limit for the number of pods that can be set by the autoscaler, default 1.",
	     (double)r->options.least},
		{"gauge", "kube_horizontalpodautoscaler_spec_max_replicas",
	     "[STABLE] Upper limit for the number of pods that can be set by the autoscaler; cannot be smaller than "
	     "MinReplicas.",
	     (double)r->options.most},
		{"gauge", "kube_horizontalpodautoscaler_status_current_replicas",
	     "[STABLE] Current number of replicas of pods managed by this autoscaler.", (double)r->desired},
		{"gauge", "kube_horizontalpodautoscaler_status_desired_replicas",
	     "[STABLE] Desired number of replicas of pods managed by this autoscaler.", (double)r->wanted},
	};
	exposition_plain(out, deployment, sizeof deployment / sizeof *deployment,
	                 "namespace=\"default\",deployment=\"sim\"");
	exposition_plain(out, autoscaler, sizeof autoscaler / sizeof *autoscaler,
	                 "namespace=\"default\",horizontalpodautoscaler=\"sim\"");
}

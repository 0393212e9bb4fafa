/* The replicas as kube-state-metrics (2.15) reports a Deployment and its HorizontalPodAutoscaler. */
#ifndef SIM_KUBE_METRICS_H
#define SIM_KUBE_METRICS_H

#include "buffer.h"
#include "replicas.h"

void kube_metrics_write(const struct replicas *replicas, struct buffer *out);

#endif

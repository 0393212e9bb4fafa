/* The replicas in the names by which kube-state-metrics reports a Deployment and its HorizontalPodAutoscaler. */
#ifndef SIM_KUBE_METRICS_H
#define SIM_KUBE_METRICS_H

#include "batching/replicas.h"
#include "buffer.h"

void kube_metrics_write(const struct replicas *replicas, struct buffer *out);

#endif

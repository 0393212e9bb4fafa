{{/* A Job cannot be changed: each revision has one of its own. */}}
{{- define "ipf.job" -}}{{ .Release.Name }}-{{ .Release.Revision }}{{- end }}
{{- define "ipf.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}
{{- define "ipf.claim" -}}{{ .Values.results.existingClaim | default (printf "%s-results" .Release.Name) }}{{- end }}
{{- define "ipf.labels" -}}
app.kubernetes.io/name: ipf
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "ipf.modelLabels" -}}
app.kubernetes.io/name: model
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "ipf.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

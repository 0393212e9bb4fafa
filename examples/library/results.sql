-- Latencies by stage and model, from results of ipf-collect(1) in DuckDB:
--
--     cd where/run.results.zst/is && duckdb < results.sql
--
-- A stream is a JSON object a line. Requests are those with an n; the others are the header, histograms, windows, samples
-- and the trailer. Absent members are NULL and enter no statistic. Also from Python: duckdb.sql(open("results.sql").read())
WITH requests AS (
    SELECT json_transform(json, '{"stage": "BIGINT", "model": "VARCHAR", "ok": "BOOLEAN", "ttft_ns": "BIGINT",
                                  "e2e_ns": "BIGINT", "output_tokens": "BIGINT"}') AS r
    FROM read_ndjson_objects('run.results.zst', compression = 'zstd')
    WHERE json_exists(json, '$.n')
)
SELECT r.stage,
       r.model,
       count(*) AS requests,
       count(*) FILTER (NOT r.ok) AS failed,
       round(quantile_cont(r.ttft_ns, 0.5) FILTER (r.ok) / 1e6, 3) AS ttft_p50_ms,
       round(quantile_cont(r.ttft_ns, 0.99) FILTER (r.ok) / 1e6, 3) AS ttft_p99_ms,
       round(quantile_cont(r.e2e_ns, 0.5) FILTER (r.ok) / 1e6, 3) AS e2e_p50_ms,
       sum(r.output_tokens) AS output_tokens
FROM requests
GROUP BY ALL
ORDER BY ALL;

{{ config(materialized="view") }}

select sku, title from read_json('{{ env_var("CATALOG", "catalog.jsonl") }}')

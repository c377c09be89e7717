// Compares bulkcat's diff, report and top with the same aggregates and joins in DuckDB: node results.mjs BULKCAT DIR NAME...
// DIR has the files of samples.sh.
import { DuckDBInstance } from "@duckdb/node-api";
import { execFileSync } from "node:child_process";

const [bulkcat, dir, ...names] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const run = (...args) => execFileSync(bulkcat, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 30 });

function fail(message) {
  console.error(message);
  process.exit(1);
}

function same(what, got, want) {
  if (JSON.stringify(got) !== JSON.stringify(want)) fail(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

// edit writes another output of the same inputs: without some, with others, with other statuses, categories and confidences.
async function edit(from, to) {
  const some = `hash(input) % 1000`;
  await db.run(`COPY (SELECT record,
      CASE WHEN record % 11 = 3 THEN 'new-' || input ELSE input END AS input,
      CASE WHEN record % 17 = 5 AND status = 'ok' THEN 'failed' ELSE status END AS status,
      classification,
      CASE WHEN record % 17 <> 5 THEN rank END AS rank,
      CASE WHEN record % 17 = 5 THEN NULL WHEN rank = 1 AND ${some} < 100 THEN "value" || ' > Other' WHEN rank = 1 AND ${some} < 200 THEN 'Other' ELSE "value" END AS "value",
      category_id,
      CASE WHEN record % 7 = 1 THEN confidence / 2 ELSE confidence END AS confidence,
      error
    FROM ${from} WHERE record % 13 <> 6 AND (record % 17 <> 5 OR coalesce(rank, 1) = 1) ORDER BY record, classification DESC, rank
    ) TO '${to}' (FORMAT parquet)`);
}

// keyOf is an input as diff compares it: the spellings of a URL are one input, and so are those of a title.
function keyOf(kind, input) {
  const text = input.trim().replace(/\s+/g, " ").normalize("NFC");
  if (kind === "products" && !/^https?:/i.test(text)) return text;
  try {
    const url = new URL(/^https?:/i.test(text) ? text : `https://${text}`);
    url.hash = "";
    if (!url.hostname.includes(".")) return text;
    if (kind === "products") return url.href;
    return `https://${url.hostname.replace(/^www\./, "")}${url.pathname.replace(/\/+$/, "")}`; // the run's rule for equal websites
  } catch {
    return text;
  }
}

// writeKeys writes the table keys for the inputs of some tables.
async function writeKeys(kind, ...tables) {
  const inputs = await rows(tables.map((t) => `SELECT coalesce(input, '') AS input FROM ${t}`).join(" UNION "));
  await db.run("CREATE OR REPLACE TABLE keys(input VARCHAR, key VARCHAR)");
  const insert = await db.prepare("INSERT INTO keys VALUES ($1, $2)");
  for (const { input } of inputs) {
    insert.bind([input, keyOf(kind, input)]);
    await insert.run();
  }
}

// side is the first row of the first record of each input, with equal inputs as one.
const side = (table) => `(SELECT key, keys.input, classification, record, status, "value", category_id, confidence
  FROM ${table} t JOIN keys ON keys.input = coalesce(t.input, '')
  QUALIFY row_number() OVER (PARTITION BY key, classification ORDER BY record, rank) = 1)`;

// joined is bulkcat diff in SQL.
const joined = (a, b) => `(SELECT CASE
    WHEN o.record IS NULL THEN 'added' WHEN n.record IS NULL THEN 'removed'
    WHEN o.status <> n.status THEN 'status' WHEN o."value" IS DISTINCT FROM n."value" THEN 'category' ELSE 'confidence' END AS change,
  nullif(coalesce(n.input, o.input), '') AS input, classification, o.record AS old_record, n.record AS new_record, o.status AS old_status, n.status AS new_status,
  o."value" AS old_value, n."value" AS new_value, o.category_id AS old_category_id, n.category_id AS new_category_id,
  o.confidence AS old_confidence, n.confidence AS new_confidence
  FROM ${side(a)} o FULL OUTER JOIN ${side(b)} n USING (key, classification)
  WHERE o.record IS NULL OR n.record IS NULL OR o.status <> n.status OR o."value" IS DISTINCT FROM n."value" OR o.confidence IS DISTINCT FROM n.confidence)`;

async function compareDiff(name) {
  const old = `read_parquet('${dir}/${name}.parquet')`;
  const edited = `${dir}/${name}.edited.parquet`;
  await edit(old, edited);
  await writeKeys(name, old, `read_parquet('${edited}')`);
  const want = joined(old, `read_parquet('${edited}')`);
  const kinds = await rows(`SELECT change, count(*)::INT AS n FROM ${want} GROUP BY ALL ORDER BY change`);
  if (kinds.length < 5) fail(`${name}: only the changes ${JSON.stringify(kinds)}`);
  for (const [output, format] of [[`${name}.parquet`, "parquet"], [`${name}/`, "csv"], [`${name}.nested.parquet`, "jsonl"], [`${name}.top.csv`, "parquet"]]) {
    const file = `${dir}/changes.${format}`;
    const summary = JSON.parse(run("diff", `${dir}/${output}`, edited, "-o", file, "--overwrite", "--json"));
    const got = `(SELECT * EXCLUDE (level) FROM ${{
      parquet: `read_parquet('${file}')`,
      csv: `read_csv('${file}', header = true, types = {'input': 'VARCHAR', 'old_category_id': 'VARCHAR', 'new_category_id': 'VARCHAR', 'old_value': 'VARCHAR', 'new_value': 'VARCHAR', 'old_confidence': 'DOUBLE', 'new_confidence': 'DOUBLE'})`,
      jsonl: `read_json('${file}', format = 'newline_delimited', columns = {change: 'VARCHAR', level: 'BIGINT', input: 'VARCHAR', classification: 'VARCHAR', old_record: 'BIGINT', new_record: 'BIGINT', old_status: 'VARCHAR', new_status: 'VARCHAR', old_value: 'VARCHAR', new_value: 'VARCHAR', old_category_id: 'VARCHAR', new_category_id: 'VARCHAR', old_confidence: 'DOUBLE', new_confidence: 'DOUBLE'})`,
    }[format]})`;
    for (const [x, y] of [[got, want], [want, got]]) {
      const extra = await rows(`SELECT * FROM ${x} EXCEPT ALL SELECT * FROM ${y} LIMIT 3`);
      if (extra.length > 0) fail(`${name}: the changes from ${output} differ, for example ${JSON.stringify(extra)}`);
    }
    same(`${name}: counts of ${output}`, summary.changes, Object.fromEntries(["added", "category", "confidence", "removed", "status"].map((k) => [k, kinds.find((r) => r.change === k)?.n ?? 0])));
  }
  console.log(`${name}: the changes ${kinds.map((k) => `${k.n} ${k.change}`).join(", ")} equal a full outer join`);
}

async function compareReport(name) {
  const table = `read_parquet('${dir}/${name}.parquet')`;
  const first = `(SELECT * FROM ${table} QUALIFY row_number() OVER (PARTITION BY record, classification ORDER BY rank) = 1)`;
  const figures = await rows(`SELECT count(*)::INT AS n, count(DISTINCT record)::INT AS records, count(DISTINCT (record, classification))::INT AS nested FROM ${table}`);
  for (const output of [`${name}.parquet`, `${name}.csv`, `${name}/`, `${name}.nested.jsonl`]) {
    const { summary } = JSON.parse(run("report", `${dir}/${output}`, "--format", "json"));
    same(`${output}: rows and records`, [summary.rows, summary.records], [output.includes(".nested.") ? figures[0].nested : figures[0].n, figures[0].records]);
    for (const c of summary.classifications) {
      const of = `FROM ${first} WHERE classification = '${c.name}'`;
      same(`${output}: coverage`, Object.fromEntries(c.coverage.map((s) => [s.status, s.records]).sort()),
        Object.fromEntries((await rows(`SELECT status, count(*)::INT AS n ${of} GROUP BY ALL ORDER BY status`)).map((r) => [r.status, r.n])));
      const tops = await rows(`SELECT level_1 AS name, count(*)::INT AS n ${of} AND "value" IS NOT NULL GROUP BY ALL ORDER BY n DESC, name`);
      same(`${output}: categories`, c.categories.filter((k) => k.records > 0).map((k) => [k.name, k.records]).sort(), tops.map((r) => [r.name, r.n]).sort());
      const bins = await rows(`SELECT least(floor(confidence * 20 + 1e-9), 19)::INT AS bin, count(*)::INT AS n ${of} AND confidence BETWEEN 0 AND 1 GROUP BY ALL`);
      same(`${output}: confidences`, c.confidence.bins, Array.from({ length: 20 }, (_, i) => bins.find((b) => b.bin === i)?.n ?? 0));
      const low = await rows(`SELECT record::INT AS record ${of} AND confidence IS NOT NULL ORDER BY confidence, record LIMIT 20`);
      same(`${output}: low confidence`, c.worth_a_look.low_confidence.map((e) => e.record), low.map((r) => r.record));
      const close = await rows(`SELECT record::INT AS record FROM ${table} WHERE classification = '${c.name}' AND rank <= 2 GROUP BY record
        HAVING count(confidence) = 2 ORDER BY max(confidence) FILTER (rank = 1) - max(confidence) FILTER (rank = 2), record LIMIT 20`);
      same(`${output}: close second`, c.worth_a_look.close_second.map((e) => e.record), close.map((r) => r.record));
    }
    const top = JSON.parse(run("top", `${dir}/${output}`, "--json", "--most", "0"));
    same(`${output}: top`, top.map((t) => t.records), summary.classifications.map((c) => c.records));
  }
  console.log(`${name}: the report equals the aggregates`);
}

for (const name of names) {
  await compareReport(name);
  await compareDiff(name);
}

// Compares NAME.parquet, the folder NAME/ and NAME.csv in DIR row by row and type by type:
// node compare.mjs DIR NAME...
import { DuckDBInstance } from "@duckdb/node-api";

const [dir, ...names] = process.argv.slice(2);
const types = { record: "BIGINT", rank: "BIGINT", confidence: "DOUBLE" }; // all others are VARCHAR

const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();

function fail(message) {
  console.error(message);
  process.exit(1);
}

for (const name of names) {
  const parquet = `read_parquet('${dir}/${name}.parquet')`;
  const folder = `read_parquet('${dir}/${name}/*.parquet')`;
  const columns = await rows(`DESCRIBE SELECT * FROM ${parquet}`);
  for (const { column_name, column_type } of columns) {
    const want = types[column_name] ?? "VARCHAR";
    if (column_type !== want) fail(`${name}: column ${column_name} is ${column_type}, want ${want}`);
  }
  const spec = columns.map((c) => `'${c.column_name}': '${c.column_type}'`).join(", ");
  const csv = `read_csv('${dir}/${name}.csv', header = true, auto_detect = false, delim = ',', quote = '"', escape = '"', columns = {${spec}})`;

  const [{ n }] = await rows(`SELECT count(*) AS n FROM ${parquet}`);
  if (Number(n) === 0) fail(`${name}: no rows`);
  for (const [label, other] of [["CSV", csv], ["folder", folder]]) {
    const [{ m }] = await rows(`SELECT count(*) AS m FROM ${other}`);
    if (m !== n) fail(`${name}: ${n} rows in Parquet, ${m} in the ${label}`);
    for (const [a, b] of [[parquet, other], [other, parquet]]) {
      const extra = await rows(`SELECT * FROM ${a} EXCEPT ALL SELECT * FROM ${b} LIMIT 3`);
      if (extra.length > 0) fail(`${name}: Parquet and ${label} differ, for example ${JSON.stringify(extra)}`);
    }
  }
  const [{ parts }] = await rows(`SELECT count(*) AS parts FROM glob('${dir}/${name}/*.parquet')`);
  const [{ sorted }] = await rows(`SELECT bool_and(record >= before) AS sorted FROM (SELECT record, lag(record, 1, 0) OVER () AS before FROM ${parquet})`);
  if (String(sorted) !== "true") fail(`${name}: the records are not in order`);
  console.log(`${name}: ${n} rows and ${columns.length} columns equal in Parquet, CSV and ${parts} parts`);
}

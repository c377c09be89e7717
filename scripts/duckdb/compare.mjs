// Compares the files of samples.sh in DIR row by row and type by type: node compare.mjs DIR NAME...
import { DuckDBInstance } from "@duckdb/node-api";

const [dir, ...names] = process.argv.slice(2);
const types = { record: "BIGINT", rank: "BIGINT", confidence: "DOUBLE" }; // all others are VARCHAR

const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const value = async (sql) => Object.values((await rows(sql))[0])[0];
const columnsOf = async (table) =>
  (await rows(`DESCRIBE SELECT * FROM ${table}`)).map((c) => ({ name: c.column_name, type: c.column_type }));
const quote = (name) => `"${name.replaceAll('"', '""')}"`;

function fail(message) {
  console.error(message);
  process.exit(1);
}

function same(what, got, want) {
  if (String(got) !== String(want)) fail(`${what}: got ${got}, want ${want}`);
}

// equal wants the same rows in two tables, however often each of them comes.
async function equal(what, a, b) {
  same(`${what}: rows`, await value(`SELECT count(*) FROM ${a}`), await value(`SELECT count(*) FROM ${b}`));
  for (const [x, y] of [[a, b], [b, a]]) {
    const extra = await rows(`SELECT * FROM ${x} EXCEPT ALL SELECT * FROM ${y} LIMIT 3`);
    if (extra.length > 0) fail(`${what}: the rows differ, for example ${JSON.stringify(extra)}`);
  }
}

// blank returns a table as CSV has it, which does not distinguish empty text from null.
const blank = (table, columns) =>
  `(SELECT ${columns.map((c) => (c.type === "VARCHAR" ? `nullif(${quote(c.name)}, '') AS ` : "") + quote(c.name)).join(", ")} FROM ${table})`;

// compare wants the types, and the same rows in order in Parquet, the text and the folder of parts.
async function compare(name, columns, text) {
  const parquet = `read_parquet('${dir}/${name}.parquet')`;
  same(`${name}: types`, JSON.stringify(await columnsOf(parquet)), JSON.stringify(columns));
  if (Number(await value(`SELECT count(*) FROM ${parquet}`)) === 0) fail(`${name}: no rows`);
  await equal(`${name}: Parquet and text`, text.startsWith("read_csv") ? blank(parquet, columns) : parquet, text);
  await equal(`${name}: Parquet and folder`, parquet, `read_parquet('${dir}/${name}/*.parquet')`);
  const sorted = await value(`SELECT bool_and(record >= before) FROM (SELECT record, lag(record, 1, 0) OVER () AS before FROM ${parquet})`);
  same(`${name}: the records are in order`, sorted, true);
  const parts = await value(`SELECT count(*) FROM glob('${dir}/${name}/*.parquet')`);
  const n = await value(`SELECT count(*) FROM ${parquet}`);
  console.log(`${name}: ${n} rows and ${columns.length} columns equal in Parquet, text and ${parts} parts`);
  return parquet;
}

const spec = (columns) => columns.map((c) => `'${c.name}': '${c.type}'`).join(", ");
const csv = (name, columns) =>
  `read_csv('${dir}/${name}.csv', header = true, auto_detect = false, delim = ',', quote = '"', escape = '"', columns = {${spec(columns)}})`;

for (const name of names) {
  const long = (await columnsOf(`read_parquet('${dir}/${name}.parquet')`)).map((c) => ({ name: c.name, type: types[c.name] ?? "VARCHAR" }));
  const inLong = await compare(name, long, csv(name, long));
  const inTop = await compare(`${name}.top`, long, csv(`${name}.top`, long));
  const first = `(SELECT * FROM ${inLong} QUALIFY row_number() OVER (PARTITION BY record, classification ORDER BY rank) = 1)`;
  await equal(`${name}: the shape top and the first rows`, inTop, first);

  const isMember = (c) => /^(rank|value|category_id|title|confidence|level_\d+)$/.test(c.name) && long.indexOf(c) < long.findIndex((x) => x.name === "error");
  const members = long.filter(isMember);
  const struct = `STRUCT(${members.map((c) => `${c.name === "value" ? '"value"' : c.name} ${c.type}`).join(", ")})[]`;
  const nested = long.filter((c) => !isMember(c));
  nested.splice(4, 0, { name: "categories", type: (await columnsOf(`(SELECT NULL::${struct} AS c)`))[0].type });
  const jsonl = `read_json('${dir}/${name}.nested.jsonl', format = 'newline_delimited', columns = {${spec(nested)}})`;
  const inNested = await compare(`${name}.nested`, nested, jsonl);
  const cells = long.map((c) => (isMember(c) ? `c.${quote(c.name)}` : quote(c.name)) + ` AS ${quote(c.name)}`).join(", ");
  const flat = `(SELECT ${cells} FROM ${inNested} LEFT JOIN unnest(categories) AS u(c) ON true)`;
  await equal(`${name}: the shape nested, flattened, and long`, flat, inLong);
}

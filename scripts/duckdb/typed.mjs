// Compares the types and the values of carried columns in the files of typed.sh with their source: node typed.mjs DIR
import { readFileSync, readdirSync, statSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const dir = `${process.argv[2]}/typed`;
const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const columnsOf = async (table) =>
  (await rows(`DESCRIBE SELECT * FROM ${table}`)).map((c) => ({ name: c.column_name, type: c.column_type }));

function fail(message) {
  console.error(message);
  process.exit(1);
}

// expected returns the type of a carried column, and whether DuckDB compares its values with those of the source.
function expected(type) {
  if (/^U?(TINY|SMALL)INT$|^U?INTEGER$|^BIGINT$/.test(type)) return ["BIGINT", true];
  if (type === "UBIGINT") return ["DECIMAL(20,0)", true];
  if (type === "FLOAT") return ["DOUBLE", false];
  if (/^(DOUBLE|BOOLEAN|DATE|VARCHAR|TIMESTAMP.*|DECIMAL\(\d+,\d+\))$/.test(type)) return [type, true];
  return ["VARCHAR", false];
}

for (const note of readdirSync(dir).filter((name) => name.endsWith(".source"))) {
  const name = note.replace(/\.source$/, "");
  const path = readFileSync(`${dir}/${note}`, "utf8").trim();
  if (path.endsWith(".jsonl")) continue;
  const source = `read_parquet('${statSync(path).isDirectory() ? `${path}/*.parquet` : path}')`;
  const columns = await columnsOf(source);
  const compared = columns.filter((c) => expected(c.type)[1]).map((c) => `"${c.name}"`).join(", ");
  for (const shape of ["", ".top", ".nested"]) {
    const output = `read_parquet('${dir}/${name}${shape}.parquet')`;
    const types = new Map((await columnsOf(output)).map((c) => [c.name, c.type]));
    for (const c of columns) {
      const want = c.name === "null" ? "VARCHAR" : expected(c.type)[0]; // DuckDB has no type null
      if (types.get(c.name) !== want) fail(`${name}${shape}: ${c.name} is ${types.get(c.name)}, want ${want}`);
    }
    const one = `(SELECT DISTINCT record, ${compared} FROM ${output})`;
    for (const [a, b] of [[source, one], [one, source]]) {
      const extra = await rows(`SELECT ${compared} FROM ${a} EXCEPT ALL SELECT ${compared} FROM ${b}`);
      if (extra.length > 0) fail(`${name}${shape}: the values differ, for example ${JSON.stringify(extra[0])}`);
    }
  }
  console.log(`${name}: ${columns.length} carried columns have their types in all shapes`);
}

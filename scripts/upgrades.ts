/**
 * Records runs that wait. `test/durable/upgrades.process.test.ts` goes on with them under later releases; each release adds one record.
 *
 *   npm run upgrades -- 0.1.0
 *   npm run upgrades -- formats-1 <program>   records what the program of another checkout stores
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { root } from "./files.ts"
import { database as databaseIn } from "../test/durable/_support/upgrades/database.ts"

const folderOf = join(root, "test/durable/_support/upgrades")

/** The tables of a database as SQL that makes them, with their rows. */
const dump = async (folder: string): Promise<string> => {
  const database = await databaseIn(folder)
  const lines = async (query: string): Promise<ReadonlyArray<string>> =>
    (await database.query(query)).rows.map(({ line }) => line)
  const tables = await lines("select tablename as line from pg_tables where schemaname = 'public' order by 1")
  const parts = await lines(
    "select format('create sequence %I start %s;', sequencename, coalesce(last_value, 0) + 1) as line from pg_sequences where schemaname = 'public'"
  ).then((sequences) => [...sequences])
  for (const table of tables) {
    const of = `from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = '"${table}"'::regclass and a.attnum > 0 and not a.attisdropped`
    const columns = await lines(`select format('%I %s', attname, format_type(atttypid, atttypmod))
      || coalesce(' default ' || pg_get_expr(adbin, adrelid), '') || case when attnotnull then ' not null' else '' end as line ${of} order by attnum`)
    const constraints =
      await lines(`select format('constraint %I %s', conname, pg_get_constraintdef(oid)) as line from pg_constraint
      where conrelid = '"${table}"'::regclass and contype in ('p', 'u', 'c', 'f') order by contype <> 'p', conname`)
    const indexes =
      await lines(`select pg_get_indexdef(indexrelid) as line from pg_index where indrelid = '"${table}"'::regclass
      and indexrelid not in (select conindid from pg_constraint) order by 1`)
    const names = await lines(`select format('%I', attname) as line ${of} order by attnum`)
    const rows = await lines(
      `select concat_ws(', ', ${names.map((name) => `quote_nullable(${name}::text)`).join(", ")}) as line from "${table}" order by 1`
    )
    parts.push(
      `create table "${table}" (\n  ${[...columns, ...constraints].join(",\n  ")}\n);`,
      ...indexes.map((index) => `${index};`),
      ...rows.map((row) => `insert into "${table}" values (${row});`)
    )
  }
  await database.close()
  return `${parts.join("\n")}\n`
}

const [, , name, program = join(folderOf, "program.ts")] = process.argv
if (name === undefined) throw new Error("say which release it is: npm run upgrades -- 0.1.0")
const folder = mkdtempSync(join(tmpdir(), "kintsugi-"))
try {
  const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] })
  const ended = once(child, "close")
  await Promise.race([once(child.stdout, "data"), ended.then(() => Promise.reject(new Error("it ended too early")))])
  child.kill("SIGKILL")
  await ended
  writeFileSync(join(folderOf, "records", `${name}.sql`), await dump(folder))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs rows one after the other, and keeps what they said. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { FIGURES, type Results, type Row } from "./figures.ts"
import { type RowFile, rows } from "./rows.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))

/** Those that are named, or all. Names that are no row are refused. */
export const chosen = (names: ReadonlyArray<string>): ReadonlyArray<RowFile> => {
  const unknown = names.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) {
    throw new TypeError(`no row is named ${unknown.join(", ")}; rows are ${rows.map(({ name }) => name).join(", ")}`)
  }
  return names.length === 0 ? rows : rows.filter(({ name }) => names.includes(name))
}

/** A script may say several rows, one a line. */
const readRows = (path: string): ReadonlyArray<Row> =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** Runs rows out of a folder, each in a process of its own; says which of them did not come to their end. */
export const run = (
  files: ReadonlyArray<RowFile>,
  parameters: ReadonlyArray<string> = [],
  within = "src/rows"
): { readonly results: Results; readonly broken: ReadonlyArray<string> } => {
  const cache = join(folder, "../.cache")
  mkdirSync(cache, { recursive: true })
  const path = join(cache, `figures-${process.pid}.json`)
  const found: Array<Row> = []
  const date = DateTime.formatIsoDateUtc(Effect.runSync(DateTime.now))
  const broken: Array<string> = []
  for (const { flags, name } of files) {
    rmSync(path, { force: true })
    const script = join(folder, within, `${name}.ts`)
    const { status } = spawnSync(process.execPath, [...flags, script, ...parameters], {
      cwd: join(folder, ".."),
      stdio: "inherit",
      env: { ...process.env, [FIGURES]: path }
    })
    if (status !== 0) broken.push(name)
    if (existsSync(path)) found.push(...readRows(path))
  }
  rmSync(path, { force: true })
  const [processor] = cpus()
  const machine = { date, node: process.version, cores: cpus().length, processor: processor?.model ?? "unknown" }
  return { results: { ...machine, rows: found }, broken }
}

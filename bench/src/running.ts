/** Runs rows one after the other, and keeps what they said. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { FIGURES, type Row } from "./figures.ts"
import { type RowFile, rows } from "./rows.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))

/** What was measured, and where. */
export interface Results {
  readonly node: string
  readonly cores: number
  readonly processor: string
  readonly rows: ReadonlyArray<Row>
}

export const recordedPath = join(folder, "recorded.json")

/** Those that are named, or all. Names that are no row are refused. */
export const chosen = (names: ReadonlyArray<string>): ReadonlyArray<RowFile> => {
  const unknown = names.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) {
    throw new TypeError(`no row is named ${unknown.join(", ")}; rows are ${rows.map(({ name }) => name).join(", ")}`)
  }
  return names.length === 0 ? rows : rows.filter(({ name }) => names.includes(name))
}

/** Runs rows, each in a process of its own; says which of them did not come to their end. */
export const run = (
  files: ReadonlyArray<RowFile>,
  parameters: ReadonlyArray<string> = []
): { readonly results: Results; readonly broken: ReadonlyArray<string> } => {
  const cache = join(folder, "../.cache")
  mkdirSync(cache, { recursive: true })
  const path = join(cache, "figures.json")
  const found: Array<Row> = []
  const broken: Array<string> = []
  for (const { flags, name } of files) {
    rmSync(path, { force: true })
    const script = join(folder, "src/rows", `${name}.ts`)
    const { status } = spawnSync(process.execPath, [...flags, script, ...parameters], {
      cwd: join(folder, ".."),
      stdio: "inherit",
      env: { ...process.env, [FIGURES]: path }
    })
    if (status !== 0) broken.push(name)
    if (existsSync(path)) found.push(JSON.parse(readFileSync(path, "utf8")))
  }
  const [processor] = cpus()
  const machine = { node: process.version, cores: cpus().length, processor: processor?.model ?? "unknown" }
  return { results: { ...machine, rows: found }, broken }
}

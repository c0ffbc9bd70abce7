/**
 * The runs of `kintsugi serve` in a folder: the events of each as `<id>.jsonl`, which the other commands read, and beside them what a
 * person has chosen as `<id>.json`. A file `.gitignore` in the folder keeps all of it out of a repository.
 */
import * as Predicate from "effect/Predicate"
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RunShown } from "./browser/Wire.ts"
import { recordedIn, summaryOf } from "./summary.ts"

/** What is known of a run besides its events. */
export type RunRecord = Omit<RunShown, "healed" | "lasted" | "missing" | "status" | "turns">

/** Ids have these characters alone, so that no id leads out of the folder. */
const isId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9-]{0,119}$/.test(id)

export class Store {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = join(folder, "runs")
    mkdirSync(this.#folder, { recursive: true })
    const ignored = join(folder, ".gitignore")
    if (!existsSync(ignored))
      writeFileSync(ignored, "# Written by kintsugi serve: runs hold what was said in them.\n*\n")
  }

  /** An id that no run has: the time, the agent, and a number if the two are taken. */
  newId(at: number, agent: string): string {
    const time = new Date(at).toISOString().replaceAll(/[:.]/g, "-")
    const words = agent.slice(0, 60).match(/[A-Za-z0-9]+/g) ?? []
    const base = [time, ...words].join("-")
    for (let number = 1; ; number++) {
      const id = number === 1 ? base : `${base}-${number}`
      if (!existsSync(this.#path(id, "json"))) return id
    }
  }

  #path(id: string, ending: "json" | "jsonl"): string {
    return join(this.#folder, `${id}.${ending}`)
  }

  keep(record: RunRecord): void {
    writeFileSync(this.#path(record.id, "json"), `${JSON.stringify(record)}\n`)
  }

  append(id: string, line: string): void {
    appendFileSync(this.#path(id, "jsonl"), `${line}\n`)
  }

  /** What is known of a run; `undefined` if there is no such run. */
  read(id: string): RunRecord | undefined {
    if (!isId(id)) return undefined
    const text = textIn(this.#path(id, "json"))
    return text === undefined ? undefined : recordIn(id, text)
  }

  /** The lines of a run. */
  linesOf(id: string): ReadonlyArray<string> {
    const text = isId(id) ? textIn(this.#path(id, "jsonl")) : undefined
    return (text ?? "").split("\n").filter((line) => line !== "")
  }

  /** A run as the list shows it. `isAtWork` says that this process runs it. */
  shown(record: RunRecord, isAtWork: boolean): RunShown {
    const summary = summaryOf(recordedIn(this.linesOf(record.id)), isAtWork)
    // a run whose input does not fit ends without an event
    return { ...record, ...summary, ...(record.error !== undefined && summary.turns === 0 ? { status: "failed" } : {}) }
  }

  /** All runs, the newest first. */
  all(): ReadonlyArray<RunRecord> {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .toSorted()
      .toReversed()
      .flatMap((name) => this.read(name.slice(0, -".json".length)) ?? [])
  }

  /** Removes every run but these. */
  clear(except: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#folder))
      if (/\.jsonl?$/.test(name) && !except.has(name.replace(/\.jsonl?$/, ""))) rmSync(join(this.#folder, name))
  }
}

const textIn = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** A file that was broken by hand is left out of the list. */
const recordIn = (id: string, text: string): RunRecord | undefined => {
  try {
    const record: unknown = JSON.parse(text)
    // cast: this program has written the file. Its name is the id, so that no id leads out of the folder
    return Predicate.isObject(record) ? ({ ...record, id } as RunRecord) : undefined
  } catch {
    return undefined
  }
}

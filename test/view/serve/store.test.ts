/** Runs in their folder. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { type RunRecord, Store } from "../../../packages/view/src/serve/store.ts"

const root = mkdtempSync(join(tmpdir(), "store-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const folderOf = (name: string) => join(root, name)

const record = (id: string, fields: Partial<RunRecord> = {}): RunRecord => ({
  id,
  agent: "desk",
  at: 0,
  input: "Hi",
  model: "stand-in",
  tools: "run",
  faults: [],
  seed: 1,
  ...fields
})

describe("the folder of runs [P1285]", () => {
  it("is kept out of repositories, unless its reader wants it otherwise [P1285]", () => {
    const folder = folderOf("ignored")
    expect(new Store(folder).all()).toEqual([])
    const ignored = join(folder, ".gitignore")
    expect(readFileSync(ignored, "utf8")).toBe("# Written by kintsugi serve: runs hold what was said in them.\n*\n")
    writeFileSync(ignored, "mine")
    expect(new Store(folder).all()).toEqual([])
    expect(readFileSync(ignored, "utf8")).toBe("mine")
  })

  it("has an id of its own for each run, of its time and its agent [P1285]", () => {
    const store = new Store(folderOf("ids"))
    const at = Date.UTC(2026, 10, 21, 12)
    const ids = Array.from({ length: 3 }, () => {
      const id = store.newId(at, "Refund desk/../Nr. 1")
      store.keep(record(id))
      return id
    })
    const id = "2026-11-21T12-00-00-000Z-Refund-desk-Nr-1"
    expect(ids).toEqual([id, `${id}-2`, `${id}-3`])
    expect(store.newId(at, "…")).toBe("2026-11-21T12-00-00-000Z")
    expect(store.newId(at, "a".repeat(100))).toBe(`2026-11-21T12-00-00-000Z-${"a".repeat(60)}`)
  })

  it("gives runs back, the newest first, with their lines [P1285]", () => {
    const store = new Store(folderOf("runs"))
    store.keep(record("a-1"))
    store.keep(record("b-2", { seed: 7 }))
    store.append("a-1", '{"x":1}')
    store.append("a-1", '{"x":2}')
    expect(store.all()).toEqual([record("b-2", { seed: 7 }), record("a-1")])
    expect(store.read("a-1")).toEqual(record("a-1"))
    expect(store.linesOf("a-1")).toEqual(['{"x":1}', '{"x":2}'])
    expect([store.read("c-3"), store.linesOf("c-3")]).toEqual([undefined, []])
    const outside = join(folderOf("runs"), "outside")
    writeFileSync(`${outside}.json`, JSON.stringify(record("outside")))
    writeFileSync(`${outside}.jsonl`, "{}\n")
    writeFileSync(join(folderOf("runs"), "runs", `${"a".repeat(121)}.json`), JSON.stringify(record("long")))
    for (const id of ["../outside", "-a", "", "a/b", "a.b", "a".repeat(121)])
      expect([store.read(id), store.linesOf(id)]).toEqual([undefined, []])
    store.keep(record("a".repeat(120)))
    expect(store.read("a".repeat(120))?.agent).toBe("desk")
  })

  it("leaves out records that are broken, and takes the id from the name of the file [P1283]", () => {
    const store = new Store(folderOf("broken"))
    for (const [name, text] of [
      ["a", "{"],
      ["b", "null"],
      ["c", "3"],
      ["d", '{"id":"../x","agent":"desk"}']
    ] as const)
      writeFileSync(join(folderOf("broken"), "runs", `${name}.json`), text)
    expect(store.all()).toEqual([{ id: "d", agent: "desk" }])
  })

  it("shows a run with its sums, and one that failed before its first event [P1285]", () => {
    const store = new Store(folderOf("shown"))
    const lost = record("a", { error: "the input does not fit" })
    expect(store.shown(lost, false)).toEqual({ ...lost, status: "failed", healed: 0, turns: 0, missing: [], lasted: 0 })
    expect(store.shown(record("a"), false).status).toBe("cut off")
    expect(store.shown(record("a"), true).status).toBe("running")
    store.append("a", JSON.stringify({ runId: "r", agent: "desk", turn: 2, at: 5, type: "run-completed" }))
    expect(store.shown(lost, false)).toMatchObject({ status: "completed", turns: 2, error: "the input does not fit" })
  })

  it("is cleared of all runs but those at work [P1285]", () => {
    const store = new Store(folderOf("cleared"))
    for (const id of ["a", "b"]) {
      store.keep(record(id))
      store.append(id, "{}")
    }
    const runs = join(folderOf("cleared"), "runs")
    writeFileSync(join(runs, "notes.txt"), "")
    store.clear(new Set(["b"]))
    expect(readdirSync(runs).toSorted()).toEqual(["b.json", "b.jsonl", "notes.txt"])
    expect(existsSync(join(folderOf("cleared"), ".gitignore"))).toBe(true)
  })
})

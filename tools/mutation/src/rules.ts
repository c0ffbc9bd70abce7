/** Tests that are named after rules and find out no mutant. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { idsOfTitle } from "../../../scripts/ruleIds.ts"
import { hashOf, type Surveyed } from "./baseline.ts"
import { chunks, pool } from "./mutants.ts"
import { run } from "./processes.ts"
import { type Baseline, cache, type Hunt, type Outcome } from "./protocol.ts"
import type { Accepted, Idle } from "./report.ts"

export const readAccepted = (): ReadonlyArray<Accepted> =>
  JSON.parse(readFileSync(join(root, "tools/mutation/idleTests.json"), "utf8"))

/** Whether a test is named after a rule. */
export const isOfRule = (title: string): boolean => idsOfTitle(title).length > 0

/** How many mutants a test is tried with before it is said to find out none, and for about how long where it is a slow one. */
const TRIES = 400
const MILLIS = 60_000
/** How many it is tried with, however slow it is. */
const LEAST = 60

/** Tests looked at by one process at most. */
const HUNTS = 80

interface Stored {
  readonly [test: string]: { readonly hash: string; readonly found: boolean }
}

const path = join(cache, "hunted.json")
const readStored = (): Stored => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {})

/** Half of them the first ones, by which few other tests come: they are what a test is about. The others from all over the rest. */
const chosen = <A>(rarest: ReadonlyArray<A>, most: number): ReadonlyArray<A> => {
  const first = rarest.slice(0, Math.ceil(most / 2))
  const rest = rarest.slice(first.length)
  const step = Math.max(1, rest.length / (most - first.length))
  return [...first, ...rest.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step))]
}

/** Looks, for each test of a rule that was the first finder of no mutant, whether it finds out any. */
export const idleTests = async (
  outcomes: ReadonlyArray<Outcome>,
  surveyed: Surveyed,
  { say, workers }: { readonly say: (line: string) => void; readonly workers: number }
): Promise<Idle> => {
  const finders = new Set(outcomes.map(({ by }) => by))
  const killed = new Set(outcomes.filter(({ status }) => status === "killed").map(({ mutant }) => mutant.id))
  const ofRules = surveyed.tests.filter(({ passed, title }) => passed && isOfRule(title))
  const hashFor = (test: Baseline) => hashOf(surveyed.hashes.get(test.file) ?? "")
  const stored = readStored()
  const asked = ofRules.filter(({ key }) => !finders.has(key))
  const elsewhere = asked.filter(({ hits }) => Object.keys(hits).length === 0)
  const untried = asked.filter((test) => Object.keys(test.hits).length > 0 && stored[test.key]?.hash !== hashFor(test))
  const hashes = new Map(untried.map((test) => [test.key, hashFor(test)]))
  const now: Record<string, { readonly hash: string; readonly found: boolean }> = { ...stored }
  say(`${untried.length} tests of rules were the first finder of no mutant: looking for mutants that they find out`)
  const tests = untried.map(({ key, ms }) => ({ key, ms }))
  const callers = new Map<string, number>()
  for (const { hits } of surveyed.tests) for (const id of Object.keys(hits)) callers.set(id, (callers.get(id) ?? 0) + 1)
  const all = untried.map(({ hits, ms }, test): Hunt => ({
    test,
    mutants: chosen(
      Object.entries(hits)
        .filter(([id]) => killed.has(id))
        .toSorted(([a], [b]) => (callers.get(a) ?? 0) - (callers.get(b) ?? 0))
        .map(([id, count]) => ({ id, hits: count })),
      Math.min(TRIES, Math.max(LEAST, Math.ceil(MILLIS / (ms + 1))))
    )
  }))
  const work = async (hunts: ReadonlyArray<Hunt>): Promise<void> => {
    let left = hunts
    while (left.length > 0) {
      const files = [...new Set(left.map(({ test }) => untried[test]?.file ?? ""))]
      const said = await run({ mode: "hunts", files, tests, hunts: left })
      const done = new Set<string>()
      const note = (key: string, isFound: boolean) => {
        done.add(key)
        now[key] = { hash: hashes.get(key) ?? "", found: isFound }
      }
      for (const line of said.lines) {
        if (line.type !== "hunted") continue
        note(line.test, line.mutant !== undefined)
      }
      if (said.stuckAt !== undefined) note(said.stuckAt.test, true)
      writeFileSync(path, JSON.stringify(now))
      if (said.lines.at(-1)?.type === "done") return
      if (done.size === 0) throw new Error(`Vitest ended without a result\n${said.printed}`)
      left = left.filter(({ test }) => !done.has(tests[test]?.key ?? ""))
    }
  }
  await pool(
    chunks(all, HUNTS).map((chunk) => () => work(chunk)),
    workers
  )
  const idle = asked.filter(({ hits, key }) => Object.keys(hits).length > 0 && now[key]?.found !== true)
  return { idle, elsewhere, count: ofRules.length }
}

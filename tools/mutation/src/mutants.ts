/** Runs the tests against the mutants, and keeps what came of it as long as neither the mutant's file nor the tests changed. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { File } from "../../../scripts/files.ts"
import type { Surveyed } from "./baseline.ts"
import { byTurns, coverage, filesFor, sharesOf, within } from "./choice.ts"
import { hashOf } from "./hash.ts"
import { keyOf, type Placed } from "./instrument.ts"
import { run } from "./processes.ts"
import {
  type Baseline,
  cache,
  type Job,
  type Mutant,
  type Outcome,
  type Plan,
  type Result,
  type Status
} from "./protocol.ts"
import { withoutReasons } from "./reasons.ts"

export interface Options {
  readonly workers: number
  /** Which share of the time of all tests, measured without mutants, one mutant is given at most. */
  readonly share: number
  readonly say: (line: string) => void
}

/** Mutants that act while modules are loaded, tried by one process. */
const WORLDS = 12

/** How long a test may take, in milliseconds without mutants, to be among those that are loaded anew. */
const WORLD_MILLIS = 300

/** Mutants tried by one process at most. */
const JOBS = 400

interface Stored {
  readonly key: string
  readonly hash: string
  readonly status: Status
  readonly by?: string
  readonly ran: number
}

const path = join(cache, "outcomes.jsonl")

const readStored = (): ReadonlyMap<string, ReadonlyArray<Stored>> => {
  if (!existsSync(path)) return new Map()
  const lines = readFileSync(path, "utf8").split("\n")
  const stored: ReadonlyArray<Stored> = lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line))
  const byKey = new Map<string, Array<Stored>>()
  for (const one of stored) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one])
  return byKey
}

const unrepeatablePath = join(cache, "unrepeatable.json")

const readUnrepeatable = (): ReadonlyArray<string> =>
  existsSync(unrepeatablePath) ? JSON.parse(readFileSync(unrepeatablePath, "utf8")) : []

const keep = (one: Stored): void => {
  mkdirSync(cache, { recursive: true })
  appendFileSync(path, `${JSON.stringify(one)}\n`)
}

export const chunks = <A>(values: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, at) => values.slice(at * size, (at + 1) * size))

/** Runs tasks, so many at once. */
export const pool = async (tasks: ReadonlyArray<() => Promise<void>>, workers: number): Promise<void> => {
  const queue = [...tasks]
  const work = async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task()
  }
  await Promise.all(Array.from({ length: workers }, work))
}

type Part = Pick<Plan, "jobs" | "worlds">

/** Runs a part in as many processes as it takes. */
const runPart = async (
  part: Part,
  planOf: (part: Part) => Pick<Plan, "mode" | "files"> & Partial<Plan>,
  tell: (result: Result) => void,
  isFound: (mutant: string, test: string) => Promise<boolean>,
  exclude: (test: string) => void
): Promise<void> => {
  let left = part
  while (left.jobs.length + left.worlds.length > 0) {
    const done = new Set<string>()
    const settle = (result: Result) => {
      tell(result)
      done.add(result.mutant)
    }
    const said = await run(planOf(left), (line) => {
      if (line.type === "result") settle(line)
    })
    const tainted = said.lines.find((line) => line.type === "tainted")
    const stuck = said.stuckAt
    if (tainted?.type === "tainted") {
      const { mutant, test } = tainted
      if (await isFound(mutant, test)) settle({ mutant, status: "killed", by: test, ran: 0 })
      else exclude(test)
    } else if (stuck !== undefined && stuck.mutant !== "") {
      settle({ mutant: stuck.mutant, status: "timeout", by: stuck.test, ran: 0 })
    } else if (done.size === 0 && left.worlds.length > 1) {
      // one of them may keep the tests of all others from being collected
      for (const world of left.worlds) await runPart({ jobs: [], worlds: [world] }, planOf, tell, isFound, exclude)
      return
    } else if (tainted === undefined && done.size === 0 && said.lines.at(-1)?.type !== "done") {
      throw new Error(`Vitest ended without a result; at ${JSON.stringify(stuck)}\n${said.printed}`)
    }
    if (said.lines.at(-1)?.type === "done") return
    left = {
      jobs: left.jobs.filter(({ mutant }) => !done.has(mutant)),
      worlds: left.worlds.filter(({ mutant }) => !done.has(mutant))
    }
  }
}

/** What becomes of the mutants of these sources. */
export const tryAll = async (
  placed: ReadonlyArray<Placed>,
  sources: ReadonlyArray<File>,
  surveyed: Surveyed,
  { say, share, workers }: Options
): Promise<ReadonlyArray<Outcome>> => {
  const mutants = placed.map(({ mutant }) => mutant)
  const reached = coverage(surveyed.tests)
  const texts = new Map(sources.map(({ path, text }) => [path, withoutReasons(text)]))
  const stored = readStored()
  const fileOf = new Map(surveyed.tests.map(({ file, key }) => [key, file]))
  const everything = hashOf(...surveyed.hashes.values(), String(share))

  /** What an outcome depends on: of one that was found out, the source and the file of the test; else all tests. */
  const hashFor = (mutant: Mutant, by: string | undefined) => {
    const test = by === undefined ? everything : (surveyed.hashes.get(fileOf.get(by) ?? by) ?? "gone")
    return hashOf(texts.get(mutant.file) ?? "", test)
  }
  const remembered = (mutant: Mutant): Outcome | undefined => {
    const one = stored.get(keyOf(mutant))?.findLast(({ by, hash }) => hash === hashFor(mutant, by))
    return one === undefined
      ? undefined
      : { mutant, status: one.status, ran: one.ran, ...(one.by === undefined ? {} : { by: one.by }) }
  }

  const outcomes = new Map<string, Outcome>()
  const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]))
  for (const mutant of mutants) {
    const outcome = remembered(mutant)
    if (outcome !== undefined) outcomes.set(mutant.id, outcome)
  }
  const left = mutants.filter(({ id }) => !outcomes.has(id))
  say(`${mutants.length} mutants, of which ${outcomes.size} are known from before`)

  let count = 0
  const started = Date.now()
  const tell = (result: Result, isFinal: (result: Result) => boolean) => {
    const mutant = byId.get(result.mutant)
    if (mutant === undefined || !isFinal(result)) return
    const { by, ran, status } = result
    outcomes.set(mutant.id, { mutant, status, ran, ...(by === undefined ? {} : { by }) })
    keep({ key: keyOf(mutant), hash: hashFor(mutant, by), status, ran, ...(by === undefined ? {} : { by }) })
    count += 1
    if (count % 100 === 0) say(`${count} tried in ${Math.round((Date.now() - started) / 1000)} s`)
  }

  // A test that fails only where it ran before tells nothing: it is left out from there on.
  const leftOut = new Set(readUnrepeatable())
  const exclude = (test: string) => {
    leftOut.add(test)
    writeFileSync(unrepeatablePath, JSON.stringify([...leftOut], undefined, 2))
  }
  const times = surveyed.tests.filter(({ passed }) => passed)
  const shares = sharesOf(times, new Map(mutants.map(({ file, id }) => [id, file])))
  const cap = share * times.reduce((sum, { ms }) => sum + ms, 0)
  const finders = mutants.flatMap(({ file, id, line }) => {
    const by = outcomes.get(id)?.by
    return by === undefined ? [] : [{ file, line, by }]
  })
  /** Which tests found out others in the same file, with the distance of the nearest one. */
  const near = ({ file, line }: Mutant): ReadonlyMap<string, number> => {
    const distances = new Map<string, number>()
    for (const finder of finders) {
      if (finder.file !== file) continue
      const distance = Math.abs(finder.line - line)
      if (distance < (distances.get(finder.by) ?? Infinity)) distances.set(finder.by, distance)
    }
    return distances
  }
  /** What found out neighbours goes first, then tests that are about the source and little else, then others by turns. */
  const inOrder = (found: ReadonlyArray<{ test: Baseline; hits: number }>, mutant: Mutant) => {
    const { file: source } = mutant
    const shareOf = ({ test }: { test: Baseline }) => Math.round((shares.get(test.key)?.get(source) ?? 0) * 10)
    const sorted = found.toSorted((a, b) => shareOf(b) - shareOf(a) || a.test.ms - b.test.ms)
    const distances = near(mutant)
    const distanceOf = ({ test }: { test: Baseline }) => distances.get(test.key) ?? Infinity
    const neighbours = within(
      found.filter((one) => distances.has(one.test.key)).toSorted((a, b) => distanceOf(a) - distanceOf(b)),
      cap / 2
    )
    const about = within(
      sorted.filter((one) => shareOf(one) >= 2),
      cap / 2
    )
    const first = new Set([...neighbours, ...about])
    const chosen = [...first, ...within(byTurns(found.filter((one) => !first.has(one))), cap / 2)]
    // what takes long by itself comes last, or not at all where there is enough else
    const isQuick = ({ test }: { test: Baseline }) => test.ms <= cap / 20
    const isSlow = ({ test }: { test: Baseline }) => test.ms > cap / 10
    const rest = chosen.filter((one) => !isQuick(one) && !isSlow(one))
    const enough = [...chosen.filter(isQuick), ...rest]
    return enough.length >= 3 ? enough : [...enough, ...chosen.filter(isSlow)]
  }
  const indices = new Map(times.map(({ key }, index) => [key, index]))
  const tests = times.map(({ key, ms, site }) => ({ key, ms, site }))
  const jobs = left.flatMap((mutant): ReadonlyArray<Job> => {
    const found = inOrder(reached.get(mutant.id) ?? [], mutant)
    if (found.length === 0) return []
    return [
      {
        mutant: mutant.id,
        source: mutant.file,
        tests: found.map(({ test }) => indices.get(test.key) ?? -1),
        hits: found.map(({ hits }) => hits)
      }
    ]
  })
  const repeatable = (job: Job): Job => {
    const stays = job.tests.map((index) => !leftOut.has(tests[index]?.key ?? ""))
    return { ...job, tests: job.tests.filter((_, at) => stays[at]), hits: job.hits.filter((_, at) => stays[at]) }
  }
  /** Whether a test fails with a mutant in a process that has run nothing before. */
  const isFound = async (mutant: string, test: string): Promise<boolean> => {
    const job = jobs.find((one) => one.mutant === mutant)
    const index = times.findIndex(({ key }) => key === test)
    const at = job?.tests.indexOf(index) ?? -1
    if (job === undefined || at < 0) return false
    const alone = { ...job, tests: [index], hits: [job.hits[at] ?? 0] }
    const said = await run({ mode: "jobs", files: [times[index]?.file ?? ""], tests, jobs: [alone] })
    return said.lines.some((line) => line.type === "tainted" || (line.type === "result" && line.status !== "survived"))
  }
  const repeats: Array<Mutant> = []
  const filesOf = (part: Part) => [
    ...new Set(part.jobs.flatMap((job) => job.tests).map((index) => times[index]?.file ?? ""))
  ]
  await pool(
    chunks(jobs, JOBS).map(
      (chunk) => () =>
        runPart(
          { jobs: chunk, worlds: [] },
          (part) => ({ mode: "jobs", files: filesOf(part), tests, jobs: part.jobs.map(repeatable) }),
          (result) =>
            tell(result, ({ mutant, status }) => {
              const one = byId.get(mutant)
              const acts = status === "survived" && surveyed.statics.has(mutant) && one !== undefined
              if (acts) repeats.push(one)
              return !acts
            }),
          isFound,
          exclude
        )
    ),
    workers
  )
  const withJob = new Set(jobs.map(({ mutant }) => mutant))
  const loading = [...repeats, ...left.filter(({ id }) => !withJob.has(id) && surveyed.statics.has(id))]
  const worlds = loading.map((mutant) => ({ mutant: mutant.id, files: filesFor(mutant.file, times, shares) }))
  await pool(
    chunks(worlds, WORLDS).map(
      (chunk) => () =>
        runPart(
          { jobs: [], worlds: chunk },
          (part) => ({
            mode: "worlds",
            files: [],
            tests: tests.filter(({ ms }) => ms < WORLD_MILLIS),
            worlds: part.worlds
          }),
          (result) => tell(result, () => true),
          isFound,
          exclude
        )
    ),
    workers
  )
  return mutants.map((mutant) => outcomes.get(mutant.id) ?? { mutant, status: "survived", ran: 0 })
}

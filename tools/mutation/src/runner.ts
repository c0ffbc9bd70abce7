/**
 * Runs collected tests again and again, each time with another mutant on. A test runs some thousand times in one process, which is
 * what makes it fast: modules are loaded once.
 *
 * A process in which a test fails without a mutant, or was cut off, is not trusted any more and ends: another one goes on.
 */
import { appendFileSync, readFileSync } from "node:fs"
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from "vitest"
import { hashOf } from "./hash.ts"
import { heartbeat } from "./heartbeat.ts"
import { type Hunt, type Job, type Line, PLAN, type Plan, type Status } from "./protocol.ts"
import { broken, switches } from "./switches.ts"

/** How long a test may take with a mutant: a multiple of what it took without, and some more. */
const limitOf = (ms: number) => 3_000 + 5 * ms

/** How often a mutant may be come by in a test, by how often it was without: more is an endless loop. */
const hitLimitOf = (hits: number) => 1_000 + 100 * hits

const never = Symbol("timeout")

const testsIn = (tasks: ReadonlyArray<RunnerTask>): ReadonlyArray<RunnerTestCase> =>
  tasks.flatMap((task) => (task.type === "suite" ? testsIn(task.tasks) : [task]))

const suitesOf = (test: RunnerTestCase): ReadonlyArray<RunnerTestSuite> => {
  const suites: Array<RunnerTestSuite> = []
  for (let suite = test.suite; suite !== undefined; suite = suite.suite) suites.unshift(suite)
  return suites
}

/** The test with what its suites run before and after each of their tests. */
const withHooks = async (test: RunnerTestCase): Promise<void> => {
  const suites = [test.file, ...suitesOf(test)]
  try {
    for (const suite of suites)
      for (const hook of TestRunner.getSuiteHooks(suite)?.beforeEach ?? []) await hook(test.context, suite)
    await TestRunner.getTestFn(test)()
  } finally {
    for (const suite of suites.toReversed())
      for (const hook of TestRunner.getSuiteHooks(suite)?.afterEach ?? []) await hook(test.context, suite)
  }
}

/** What a test registers for its end while it runs. */
interface Hooked {
  onFinished?: ReadonlyArray<(context: RunnerTestCase["context"]) => unknown> | undefined
  onFailed?: ReadonlyArray<unknown> | undefined
}

/** Which mutants were come by since the last time, and how often. */
const takeHits = () => {
  const all = switches.hits ?? new Uint32Array()
  const ids: Array<number> = []
  const counts: Array<number> = []
  for (const [id, count] of all.entries()) {
    if (count === 0) continue
    ids.push(id)
    counts.push(count)
  }
  all.fill(0)
  return { ids, counts }
}

interface Case {
  readonly test: RunnerTestCase
  readonly key: string
  readonly file: string
  readonly title: string
  readonly site: string
  readonly line: number
}

/** Where each test is written. */
const sites = new WeakMap<object, { readonly site: string; readonly line: number }>()

/** The lines of test files that are at work, and the innermost of them. */
const siteOf = ({ stack = "" }: Error) => {
  const lines = [...stack.matchAll(/[^\s(]+\.test\.ts:(\d+):\d+/g)]
  const [innermost] = lines
  if (innermost === undefined) return undefined
  return { site: hashOf(...lines.map(([text]) => text)), line: Number(innermost[1]) }
}

/** Tests with the file that they come from; `depth` suites around it are not of the file. */
const casesOf = (tests: ReadonlyArray<RunnerTestCase>, depth: number): ReadonlyArray<Case> => {
  const seen = new Map<string, number>()
  return tests.map((test) => {
    const [file = "", ...names] = [...suitesOf(test).map(({ name }) => name), test.name].slice(depth)
    const title = names.join(" > ")
    const nth = (seen.get(`${file} > ${title}`) ?? 0) + 1
    seen.set(`${file} > ${title}`, nth)
    const key = `${file} > ${title}${nth === 1 ? "" : ` #${nth}`}`
    return { test, file, title, key, site: key, line: 0, ...sites.get(test) }
  })
}

export default class MutantRunner extends TestRunner {
  readonly plan: Plan = JSON.parse(readFileSync(process.env[PLAN] ?? "", "utf8"))
  readonly beat = heartbeat(this.plan.heartbeat)
  readonly prepared = new Set<RunnerTestSuite>()

  /** Vitest calls it when a test is declared. */
  override extendTaskContext(context: RunnerTestCase["context"]) {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 50
    const site = siteOf(new Error())
    Error.stackTraceLimit = limit
    if (site !== undefined) sites.set(context.task, site)
    return super.extendTaskContext(context)
  }

  write(line: Line): void {
    appendFileSync(this.plan.results, `${JSON.stringify(line)}\n`)
  }

  /** Runs what has to be run once before the tests of a suite, without a mutant. */
  async prepare(test: RunnerTestCase): Promise<void> {
    for (const suite of [test.file, ...suitesOf(test)]) {
      if (this.prepared.has(suite)) continue
      this.prepared.add(suite)
      for (const hook of TestRunner.getSuiteHooks(suite)?.beforeAll ?? []) await hook(suite)
    }
  }

  /** Whether the test passes; `never` when it was not over in time. */
  async passes(test: RunnerTestCase & Hooked, limit: number): Promise<boolean | typeof never> {
    const options = { retry: 0, repeats: 0 }
    test.result = { state: "run", startTime: Date.now(), retryCount: 0 } as RunnerTestCase["result"] & {}
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<typeof never>((resolve) => {
      timer = setTimeout(() => resolve(never), limit)
    })
    try {
      this.onBeforeTryTask(test, options)
      const ended = await Promise.race([withHooks(test), timeout])
      if (ended === never) return never
      this.onAfterTryTask(test)
      for (const hook of test.onFinished ?? []) await hook(test.context)
      return test.result?.state !== "fail"
    } catch {
      return false
    } finally {
      clearTimeout(timer)
      test.onFinished = undefined
      test.onFailed = undefined
    }
  }

  async baseline(cases: ReadonlyArray<Case>): Promise<void> {
    this.write({ type: "static", ids: takeHits().ids })
    for (const { test, ...written } of cases) {
      const { key } = written
      this.beat("", key, 120_000)
      await this.prepare(test)
      takeHits()
      const start = performance.now()
      const passed = await this.passes(test, 100_000)
      const ms = performance.now() - start
      this.write({ type: "test", test: { ...written, ms, passed: passed === true, ...takeHits() } })
    }
  }

  /** Runs tests with a mutant until one fails; whether this process may go on. */
  async tryMutant(
    mutant: string,
    tests: ReadonlyArray<{ readonly one: Case; readonly ms: number; readonly hits: number | undefined }>
  ): Promise<{ readonly status: Status; readonly by?: Case; readonly ran: number }> {
    let ran = 0
    for (const { hits, ms, one } of tests) {
      ran += 1
      switches.activeMutant = undefined
      await this.prepare(one.test)
      this.beat(mutant, one.key, limitOf(ms) + 5_000)
      switches.hitCount = hits === undefined ? undefined : 0
      switches.hitLimit = hits === undefined ? undefined : hitLimitOf(hits)
      switches.activeMutant = mutant
      const passed = await this.passes(one.test, limitOf(ms))
      switches.activeMutant = undefined
      if (passed === never) return { status: "timeout", by: one, ran }
      if (!passed) return { status: "killed", by: one, ran }
    }
    return { status: "survived", ran }
  }

  /** Whether a test that failed passes without the mutant, and nothing goes on behind it. */
  async isSound({ key, test }: Case, mutant = ""): Promise<boolean> {
    this.beat(mutant, key, 120_000)
    const passed = await this.passes(test, 20_000)
    if (passed !== true) return false
    for (let turn = 0; turn < 3; turn++) {
      const start = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 0))
      if (performance.now() - start > 200) return false
    }
    return true
  }

  async jobs(cases: ReadonlyArray<Case>): Promise<void> {
    const byKey = new Map(cases.map((one) => [one.key, one]))
    const kills = new Map<string, Map<string, number>>()
    for (const job of this.plan.jobs) {
      const killers = kills.get(job.source) ?? new Map<string, number>()
      kills.set(job.source, killers)
      // What found out others of the same source goes first.
      const tests = this.testsOf(job, byKey).toSorted(
        (a, b) => (killers.get(b.one.key) ?? 0) / (b.ms + 1) - (killers.get(a.one.key) ?? 0) / (a.ms + 1)
      )
      const { by, ran, status } = await this.tryMutant(job.mutant, tests)
      if (status === "killed" && by !== undefined) killers.set(by.key, (killers.get(by.key) ?? 0) + 1)
      const isSound = by === undefined || (await this.isSound(by))
      if (status === "killed" && !isSound) {
        this.write({ type: "tainted", mutant: job.mutant, test: by?.key ?? "" })
        return
      }
      this.write({ type: "result", mutant: job.mutant, status, ran, ...(by === undefined ? {} : { by: by.key }) })
      if (!isSound) {
        this.write({ type: "leave" })
        return
      }
    }
    this.write({ type: "done" })
  }

  /**
   * The sites that find a mutant out, if one of them is sought and they are no more than two; `undefined` if the process has to be
   * replaced. A test that is not over in time finds the mutant out too.
   */
  async findersOf({ comers, mutant }: Hunt, isSought: (site: string) => boolean, byKey: ReadonlyMap<string, Case>) {
    const finders = new Set<string>()
    const planned = comers.flatMap(([index, hits]) => {
      const test = this.plan.tests[index]
      const one = byKey.get(test?.key ?? "")
      return test === undefined || one === undefined ? [] : [{ one, hits, ms: test.ms }]
    })
    for (const isFirst of [true, false]) {
      for (const test of planned.filter(({ one }) => isSought(one.site) === isFirst)) {
        if (finders.has(test.one.site)) continue
        const { status } = await this.tryMutant(mutant, [test])
        if (status === "survived") continue
        if (!(await this.isSound(test.one, mutant))) return undefined
        finders.add(test.one.site)
        if (finders.size > 2) return []
      }
      if (finders.size === 0) return []
    }
    return [...finders]
  }

  async hunts(cases: ReadonlyArray<Case>): Promise<void> {
    const byKey = new Map(cases.map((one) => [one.key, one]))
    const useful = new Set(this.plan.useful)
    for (const one of this.plan.hunts) {
      const finders = await this.findersOf(one, (site) => !useful.has(site), byKey)
      if (finders === undefined) {
        this.write({ type: "dropped", mutant: one.mutant })
        return
      }
      for (const finder of finders) useful.add(finder)
      this.write({ type: "hunted", finders })
    }
    this.write({ type: "done" })
  }

  testsOf(job: Job, byKey: ReadonlyMap<string, Case>) {
    return job.tests.flatMap((index, at) => {
      const planned = this.plan.tests[index]
      const one = planned === undefined ? undefined : byKey.get(planned.key)
      return one === undefined || planned === undefined ? [] : [{ one, ms: planned.ms, hits: job.hits[at] ?? 0 }]
    })
  }

  async worlds(tests: ReadonlyArray<RunnerTestCase>): Promise<void> {
    const times = new Map(this.plan.tests.map(({ key, ms }) => [key, ms]))
    // what fails in the body of a `describe` keeps all tests of the process from being collected
    const [only, ...others] = this.plan.worlds
    if (tests.length === 0 && only !== undefined && others.length === 0) {
      this.write({ type: "result", mutant: only.mutant, status: "killed", by: only.files[0] ?? "", ran: 0 })
      this.write({ type: "done" })
      return
    }
    for (const { mutant } of this.plan.worlds) {
      const inWorld = tests.filter((test) => suitesOf(test)[0]?.name === mutant)
      const cases = casesOf(inWorld, 1).filter(({ key }) => times.has(key))
      const unloaded = broken.get(mutant)
      if (unloaded !== undefined) {
        this.write({ type: "result", mutant, status: "killed", by: unloaded, ran: 0 })
        continue
      }
      if (cases.length === 0) throw new Error(`nothing was loaded anew with the mutant ${mutant}`)
      const inOrder = cases
        .map((one) => ({ one, ms: times.get(one.key) ?? 0, hits: undefined }))
        .toSorted((a, b) => a.ms - b.ms)
      const { by, ran, status } = await this.tryMutant(mutant, inOrder)
      this.write({ type: "result", mutant, status, ran, ...(by === undefined ? {} : { by: by.key }) })
      if (status === "timeout") {
        this.write({ type: "leave" })
        return
      }
    }
    this.write({ type: "done" })
  }

  /** Vitest calls it between collecting and running. */
  async onBeforeRunFiles(files: ReadonlyArray<RunnerTestFile>): Promise<void> {
    const tests = testsIn(files).filter(({ mode }) => mode === "run" || mode === "queued")
    // Sets up what expectations need.
    for (const file of files) await this.onBeforeRunSuite(file)
    if (this.plan.mode === "worlds") await this.worlds(tests)
    else if (this.plan.mode === "jobs") await this.jobs(casesOf(tests, 0))
    else if (this.plan.mode === "hunts") await this.hunts(casesOf(tests, 0))
    else {
      await this.baseline(casesOf(tests, 0))
      this.write({ type: "done" })
    }
    // Work that has started cannot be stopped in order, and no caller waits for it.
    process.kill(process.pid, "SIGKILL")
  }
}

/** The generator: starts the processes of one subject, sends it runs, and says what they took. */
import { mkdirSync, readFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { root } from "../../../scripts/files.ts"
import { freePort } from "../../durable-lab/src/postgres.ts"
import { drawOf } from "../../eval/src/seeds.ts"
import { type Child, healthy, start } from "./children.ts"
import type { Ended } from "./clients.ts"
import { judge } from "./judge.ts"
import type { Served } from "./modelServer.ts"
import type { Measured } from "./probe.ts"
import type { Mark, Played } from "./report.ts"
import type { Settings } from "./settings.ts"
import type { Subject } from "./subjects.ts"

const logs = join(root, ".cache/load")

/** All cores together, in milliseconds. */
const machine = () => {
  const times = cpus().map((core) => core.times)
  const idle = times.reduce((sum, one) => sum + one.idle, 0)
  const all = times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.irq + one.idle, 0)
  return { idle, all }
}

/** Seconds of the processor that some processes and this one took. */
const spent = (children: ReadonlyArray<Child>): Effect.Effect<number> =>
  Effect.map(
    Effect.forEach(children, (child) => child.ask<Measured>("measure"), { concurrency: "unbounded" }),
    (measured) => {
      const { system, user } = process.cpuUsage()
      return measured.reduce((sum, { cpu }) => sum + cpu, (user + system) / 1e6)
    }
  )

/** Sends runs to the clients, at random times; gives their number. */
const arriving = (clients: Child, lasts: number, rate: number, seed: number): Effect.Effect<number> =>
  Effect.gen(function* () {
    const draw = drawOf(seed, "arrivals")
    const begun = performance.now()
    let run = 0
    for (let due = 0; ;) {
      due += (-Math.log(1 - draw.fraction()) / rate) * 1000
      if (due >= lasts) return run
      const early = due - (performance.now() - begun)
      if (early > 0) yield* Effect.sleep(early)
      clients.send({ run: ++run })
    }
  })

/** Plays one subject; says where it listens, and under which numbers its processes are known. */
export const play = (
  subject: Subject,
  { clients: mean, memory, minutes, rate, seed }: Settings,
  say: (line: string) => void
) =>
  Effect.gen(function* () {
    mkdirSync(logs, { recursive: true })
    const log = (name: string) => join(logs, `${subject.name}-${name}.log`)
    const [modelPort, port] = yield* Effect.promise(async () => [await freePort(), await freePort()] as const)
    const takes = (mean / rate) * 1000
    const model = yield* start({
      name: "the model server",
      script: "tools/load/src/modelServer.ts",
      log: log("model"),
      env: { PORT: `${modelPort}`, SEED: `${seed}`, MEAN: `${takes}` }
    })
    const server = yield* start({
      name: subject.name,
      script: subject.script,
      log: log("server"),
      options: memory === 0 ? [] : [`--max-old-space-size=${memory}`],
      env: {
        PORT: `${port}`,
        OPENAI_API_KEY: "load",
        OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}`,
        MODEL: "load",
        MODEL_CONCURRENCY: `${10 * mean}`,
        CHATS_AT_WORK: `${10 * mean}`
      }
    })
    const clients = yield* start({
      name: "the clients",
      script: "tools/load/src/clients.ts",
      log: log("clients"),
      env: { URL: `http://127.0.0.1:${port}` }
    })
    const children = [model, server, clients]
    const mark = Effect.gen(function* (): Effect.fn.Return<Mark> {
      const turns = yield* model.ask<number>("turns")
      return { ...(yield* server.ask<Measured>("measure")), streams: yield* clients.ask<number>("streams"), turns }
    })
    const loading = Effect.gen(function* (): Effect.fn.Return<Played> {
      const lasts = minutes * 60_000
      const before = yield* server.ask<Measured>("measure")
      const first = Effect.gen(function* () {
        yield* Effect.sleep(lasts / 5)
        return { early: yield* mark, machine: machine(), spent: yield* spent(children), at: performance.now() }
      })
      const [runs, from] = yield* Effect.all([arriving(clients, lasts, rate, seed), first], { concurrency: 2 })
      const late = yield* mark
      const [to, seconds] = [machine(), (yield* spent(children)) - from.spent]
      const span = (performance.now() - from.at) / 1000
      // the slowest runs take half as long again, and resends come on top
      const ends = yield* clients.ask<ReadonlyArray<Ended>>("ended", 3 * takes + 30_000)
      const served = yield* model.ask<ReadonlyArray<Served>>("served")
      const over = yield* closed(mark, before.descriptors)
      return {
        subject: subject.name,
        judged: judge(runs, ends, served, readFileSync(log("server"), "utf8").split("\n")),
        early: from.early,
        late,
        over,
        busy: 1 - (to.idle - from.machine.idle) / (to.all - from.machine.all),
        own: seconds / span / cpus().length
      }
    })
    yield* Effect.all([healthy(`http://127.0.0.1:${modelPort}`), healthy(`http://127.0.0.1:${port}`)])
    say(`${subject.name}: http://127.0.0.1:${port}, processes ${children.map(({ pid }) => pid).join(", ")}`)
    return yield* Effect.raceFirst(loading, Effect.raceAll(children.map(({ died }) => died)))
  }).pipe(Effect.scoped)

/** The last mark: once the server has as many descriptors as before, or after ten seconds, when no connection should be left idle. */
const closed = (mark: Effect.Effect<Mark>, descriptors: number): Effect.Effect<Mark> =>
  Effect.gen(function* () {
    for (let tries = 0; ; tries++) {
      const now = yield* mark
      if (now.descriptors <= descriptors || tries === 20) return now
      yield* Effect.sleep("500 millis")
    }
  })

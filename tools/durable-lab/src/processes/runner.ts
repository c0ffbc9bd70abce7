/**
 * One runner of a cluster: `runner.ts database port models folder name n end`. It ends itself at the n-th thing that it tells, with that
 * signal; with 0 it lives. What happens to an order is a line of its file, which outlives the runner. The clock of a runner may be wrong:
 * `KINTSUGI_CLOCK=100:18000,300:0` is five hours ahead from the hundredth thing that it tells, and right again from the 300th.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as RunContext from "@kintsugi/core/RunContext"
import { Durable } from "@kintsugi/durable"
import { Clock, Deferred, Effect, Layer, Logger, References, Schema } from "effect"
import { skewed } from "../clock.ts"
import { engineOn } from "./cluster.ts"
import { ordersIn } from "./orders.ts"

const [database = "", port = "", models = "", folder = "", name = "", at = "0", end = "SIGKILL"] = process.argv.slice(2)

let written = 0

const fileOf = (order: string): string => join(folder, order)

/** Nothing comes after the n-th where that is SIGKILL: the process is gone before the next line. */
const say = (order: string, what: string): void => {
  appendFileSync(fileOf(order), `${name} ${what}\n`)
  if (++written === Number(at)) process.kill(process.pid, end)
}

const tell = (order: string, what: string): Effect.Effect<void> => Effect.sync(() => say(order, what))

/** Writes a line for each replay of an order, which begins from the top. */
const watching: (typeof RunContext.Observers.Service)[number] = () => (event) => {
  if (event.type === "run-start" && event.parent === undefined) say(String(event.input), "begins")
}

const Asked = Schema.fromJsonString(Durable.DurableRequest)

const orders = ordersIn({
  tell,
  ask: (order, agent, turn) =>
    Effect.promise((signal) =>
      fetch(`${models}/${order}/${agent}/${turn}`, { method: "POST", signal }).then((answer) => answer.text())
    ),
  enter: (what) => tell("all", what),
  has: (what) =>
    existsSync(fileOf("all")) &&
    readFileSync(fileOf("all"), "utf8")
      .split("\n")
      .some((line) => line.endsWith(` ${what}`)),
  hear: (asked) => Effect.sync(() => appendFileSync(join(folder, "asked"), `${Schema.encodeSync(Asked)(asked)}\n`))
})

/** From which thing on it is off by how many seconds. */
const jumps = (process.env["KINTSUGI_CLOCK"] ?? "")
  .split(",")
  .map((jump) => jump.split(":").map(Number))
  .filter((jump) => jump.length === 2)

const off = (): number => jumps.findLast(([from = 0]) => written >= from)?.[1] ?? 0

const main = Effect.gen(function* () {
  const ending = yield* Deferred.make<void>()
  process.once("SIGTERM", () => Deferred.doneUnsafe(ending, Effect.void))
  const clock = skewed(yield* Clock.Clock, () => off() * 1000)
  const runner = Layer.build(orders.layer.pipe(Layer.provideMerge(engineOn(Number(database), Number(port)))))
  yield* Effect.scoped(Effect.andThen(runner, Deferred.await(ending))).pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(RunContext.Observers, [watching]),
    Effect.provide(Logger.layer([Logger.consolePretty()])),
    Effect.provideService(References.MinimumLogLevel, process.env["KINTSUGI_LOG"] === undefined ? "None" : "Info")
  )
})

await Effect.runPromise(main)
process.exit(0)

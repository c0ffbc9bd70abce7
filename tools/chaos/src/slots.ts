/** The three processes of the backend: each ends as the plan says, and another one takes its slot. */
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { freePort } from "../../durable-lab/src/postgres.ts"
import { startProxy } from "../../durable-lab/src/proxy.ts"
import { drawOf } from "../../eval/src/seeds.ts"
import { type Child, start } from "../../load/src/children.ts"
import type { Measured } from "../../load/src/probe.ts"
import type { Cutting, Lifetime } from "./lifetime.ts"
import { clockOf, type Link, slots, type Trouble } from "./plan.ts"
import { passing, type Sky } from "./weather.ts"

interface Slot {
  readonly port: number
  readonly skies: Readonly<Record<Link, Sky>>
  current: { readonly child: Child; readonly lifetime: Lifetime } | undefined
}

export interface Options {
  readonly seed: number
  readonly folder: string
  readonly database: number
  readonly model: number
  /** The tokens of customers and of people who decide, as the backend takes them. */
  readonly env: Readonly<Record<string, string>>
}

export const diaryOf = (folder: string, process: string): string => join(folder, `${process}.jsonl`)

/** How long a process that was asked to end may take. */
const patience = "30 seconds"

const proxied = (target: number, seed: number, slot: number, link: Link, cuttings: Array<Cutting>) =>
  Effect.gen(function* () {
    const sky: Sky = { weather: undefined, cut: () => void cuttings.push({ slot, link, at: Date.now() }) }
    let count = 0
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startProxy(target, () => passing(sky, drawOf(seed, "bytes", slot, link, count++)))),
      ({ stop }) => Effect.sync(stop)
    )
    return { port: proxy.port, sky }
  })

/** Starts them; they end with the scope. */
export const startSlots = ({ database, env, folder, model, seed }: Options) =>
  Effect.gen(function* () {
    const [lifetimes, cuttings]: [Array<Lifetime>, Array<Cutting>] = [[], []]
    const startSlot = (slot: number) =>
      Effect.gen(function* (): Effect.fn.Return<Slot, never, Scope.Scope> {
        const toDatabase = yield* proxied(database, seed, slot, "database", cuttings)
        const toModel = yield* proxied(model, seed, slot, "model", cuttings)
        const [port, runner] = yield* Effect.promise(async () => [await freePort(), await freePort()] as const)
        const self: Slot = { port, skies: { database: toDatabase.sky, model: toModel.sky }, current: undefined }
        let nth = 0
        const living = Effect.gen(function* () {
          const process = `process${slot}.${nth++}`
          const clock = clockOf(seed, slot, nth)
          const child = yield* start({
            name: process,
            script: "tools/chaos/src/process/server.ts",
            log: join(folder, `${process}.log`),
            env: {
              ...env,
              PORT: `${port}`,
              DRAIN: "3 seconds",
              OPENAI_API_KEY: "chaos",
              OPENAI_BASE_URL: `http://127.0.0.1:${toModel.port}`,
              MODEL: "chaos",
              CHAOS_DATABASE: `${toDatabase.port}`,
              CHAOS_RUNNER: `${runner}`,
              CHAOS_CLOCK: `${clock}`,
              CHAOS_DIARY: diaryOf(folder, process)
            }
          })
          const lifetime: Lifetime = { process, slot, clock, begun: Date.now(), samples: [], sent: [] }
          lifetimes.push(lifetime)
          self.current = { child, lifetime }
          const how = yield* child.ended
          lifetime.ended = { at: Date.now(), how }
          // one that cannot start is not started a hundred times
          if (lifetime.sent.length === 0) yield* Effect.sleep("1 second")
        })
        yield* Effect.forkScoped(Effect.forever(Effect.scoped(living)))
        return self
      })
    const all = yield* Effect.forEach(slots, startSlot)

    const end = (slot: Slot, signal: "SIGKILL" | "SIGTERM") =>
      Effect.gen(function* () {
        const { current } = slot
        if (current === undefined || current.lifetime.ended !== undefined) return
        const { child, lifetime } = current
        lifetime.sent.push(signal)
        child.kill(signal)
        yield* Effect.ignore(Effect.timeout(child.ended, patience))
        // the judge sees that it has not ended by the signal that it was sent
        if (lifetime.ended === undefined) child.kill("SIGKILL")
      })

    const suffer = (trouble: Trouble) =>
      Effect.gen(function* () {
        const slot = all[trouble.slot]
        if (slot === undefined) return
        if (trouble.type !== "weather") return yield* end(slot, trouble.type)
        const sky = slot.skies[trouble.link]
        sky.weather = trouble.weather
        yield* Effect.sleep(trouble.lasts)
        sky.weather = undefined
      })

    /** Measures the processes that answer. */
    const sample = Effect.forEach(
      all,
      ({ current }) =>
        current === undefined
          ? Effect.void
          : Effect.gen(function* () {
              const { child, lifetime } = current
              const { cpu: _, ...measured } = yield* child.ask<Measured>("measure")
              const spans = yield* child.ask<number>("spans")
              lifetime.samples.push({ ...measured, spans, at: Date.now() })
            }).pipe(Effect.timeout("5 seconds"), Effect.ignore),
      { concurrency: "unbounded", discard: true }
    )
    const calm = Effect.sync(() => {
      for (const { skies } of all) for (const sky of Object.values(skies)) sky.weather = undefined
    })
    return { urls: all.map(({ port }) => `http://127.0.0.1:${port}`), lifetimes, cuttings, suffer, sample, calm }
  })

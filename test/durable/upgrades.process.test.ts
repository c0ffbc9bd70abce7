/** Runs that wait in the records of older releases go on under this one, on PGlite. */
import { assert, describe, it } from "@effect/vitest"
import { Approval, type Message } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Clock, Effect, Exit, Option, Stream } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { database as databaseIn } from "./_support/upgrades/database.ts"
import { inputs, made, queued, served } from "./_support/upgrades/runs.ts"
import { skewed } from "../../tools/durable-lab/src/clock.ts"

const records = join(import.meta.dirname, "_support/upgrades/records")

/** A clock that shows an hour before the first request for approval of a record expires, when its test begins. */
const clockOf = (record: string) =>
  Effect.map(Clock.Clock, (real) => {
    const instants = Array.from(record.matchAll(/"expiresAt":(\d+)/g), ([, digits]) => Number(digits))
    const off = Math.min(...instants) - 3_600_000 - real.currentTimeMillisUnsafe()
    return skewed(real, () => off)
  })

/** A folder with the database of a record. */
const restored = (record: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(tmpdir(), "kintsugi-"))
      const database = await databaseIn(folder)
      await database.exec(record)
      await database.close()
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** Gives the runs what they wait for, and waits for their ends. */
const goingOn = Effect.fnUntraced(function* (folder: string, hasQueue: boolean) {
  const workflows = made(false)
  const { durable, order, over, packing, ran, requests } = workflows
  const program = Effect.gen(function* () {
    const ids: Array<readonly [string, string]> = []
    for (const input of inputs) ids.push([input, yield* durable.workflow.executionId({ id: input, input })])
    const waits: Record<string, ReadonlyArray<string>> = {}
    for (const [input, executionId] of ids) {
      const found = Option.getOrUndefined(yield* Durable.poll(durable, executionId))
      const waiting = found === undefined || found._tag === "Complete" ? [] : found.waiting
      waits[input] = waiting.map(({ type }) => type)
      for (const one of waiting) {
        const asked = { workflow: durable.workflow._tag, executionId }
        if (one.type === "approval")
          yield* Durable.decide(durable, { ...asked, request: one.request }, Approval.approve)
        if (one.type === "deferred") yield* Durable.settle(durable, order, String(one.handle), Exit.succeed("shipped"))
      }
      yield* Durable.resume(durable, executionId)
    }
    const ends: Record<string, string> = {}
    const events: Record<string, ReadonlyArray<string>> = {}
    for (const [input, executionId] of ids) {
      // the id of the run is there already, so this waits for its end
      ends[input] = yield* Effect.catchTag(
        durable.workflow.execute({ id: input, input }),
        "OutcomeUnknownError",
        ({ _tag, tool }) => Effect.succeed(`${_tag} of ${tool}`)
      )
      const all = yield* Stream.runCollect(Durable.events(durable, executionId))
      events[input] = all.map(({ type }) => type)
    }
    if (hasQueue) {
      // the worker takes the runs of the queue by itself, one after the other
      yield* over
      for (const input of queued) ends[input] = yield* packing.workflow.execute({ id: input, input })
    }
    return { ends, events, ran, requests, waits }
  })
  return yield* Effect.provide(program, served(workflows, folder))
})

/** The texts of the calls and the words that a request has. */
const textsOf = (messages: Message.Transcript): ReadonlyArray<string> =>
  messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "settled-call" ? part.settlement.text : []))
      : []
  )

const gone = "permanent: there is no such order; consider asking the user for clarification"

/** The release that made the records of format 1 had no queue of runs. */
const withoutQueue = new Set(["format-1.sql"])

const unknown = (tools: string) => `unknown tool: nothing; available tools: ${tools}`

describe.each(readdirSync(records).map((record) => ({ record })))("the record $record", ({ record }) => {
  it.live(
    "has runs that go on under this release, and end as they would have [P1713]",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const hasQueue = !withoutQueue.has(record)
          const stored = readFileSync(join(records, record), "utf8")
          const { ends, events, ran, requests, waits } = yield* goingOn(yield* restored(stored), hasQueue).pipe(
            Effect.provideServiceEffect(Clock.Clock, clockOf(stored))
          )
          assert.deepStrictEqual(waits, {
            approval: ["approval"],
            deferred: ["deferred"],
            retry: [],
            "in mid-tool": [],
            child: ["approval"]
          })
          assert.deepStrictEqual(ends, {
            approval: "approval is done",
            deferred: "deferred is done",
            retry: "retry is done",
            "in mid-tool": "OutcomeUnknownError of pay",
            child: "child is done",
            ...(hasQueue ? Object.fromEntries(queued.map((input) => [input, `${input} is done`])) : {})
          })
          // a safe tool that was at work runs again, nothing else runs twice, and the unsafe tool that was at work never
          assert.deepStrictEqual(ran.toSorted(), ["flaky", ...(hasQueue ? ["pack"] : []), "refund", "refund"])
          // each run asks its model for what comes after its wait, and shows it what it has read before
          assert.deepStrictEqual(
            requests.map(textsOf).toSorted((one, other) => (one.join() < other.join() ? -1 : 1)),
            [
              // the run that had not begun
              ...(hasQueue ? [[]] : []),
              ["approval is done"],
              ...(hasQueue ? [["packed"]] : []),
              [gone, unknown("look, refund, order, flaky, pay, helper"), gone, "refunded"],
              [gone, unknown("look, refund"), gone, "refunded"],
              ["shipped"],
              ["well"]
            ]
          )
          for (const input of inputs) {
            const count = (type: string) => events[input]?.filter((one) => one === type).length
            const [runs, turns] = { child: [2, 6], approval: [1, 4], "in mid-tool": [1, 1] }[input] ?? [1, 2]
            assert.deepStrictEqual(
              [count("run-start"), count("turn-start"), count("model-end")],
              [runs, turns, turns],
              input
            )
            assert.strictEqual(events[input]?.at(-1), input === "in mid-tool" ? "run-failed" : "run-completed")
          }
        })
      ),
    120_000
  )
})

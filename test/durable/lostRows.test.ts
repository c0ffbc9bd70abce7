/** Runs of which rows were deleted by hand: they end, and do nothing again. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, KintsugiError, Message, Skill, Tool } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Fiber, Option, Schema } from "effect"
import * as MessageStorage from "effect/cluster/MessageStorage"
import { TestClock } from "effect/testing"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { calm } from "../_support/dialogue.ts"
import { clusterOfRows } from "./_support/cluster.ts"
import { call, reading } from "./_support/readingModel.ts"

const about = { parameters: Schema.Struct({}), success: Schema.String }

/** It pays, has one thing signed and then another one, and is done. */
const story = () => {
  const model = reading(
    "clerk",
    (turn) => [[call("pay")], [call("sign")], [call("seal")]][turn] ?? [Message.text("done")]
  )
  let paid = 0
  const asked: Array<Durable.DurableRequest> = []
  const pay = Tool.make("pay", {
    ...about,
    description: "Pays.",
    sideEffects: "unsafe",
    verify: () => Effect.die("a run that has lost the row does not know that there is something to verify"),
    run: () => Effect.sync(() => `paid ${++paid}`)
  })
  const signing = <const Name extends string>(name: Name) =>
    Tool.make(name, { ...about, description: name, run: () => Effect.succeed(name) }).pipe(Tool.requireApproval())
  const agent = Agent.make("clerk", {
    model: model.layer,
    skills: [Skill.make("work", { description: "Works.", tools: [pay, signing("sign"), signing("seal")] })]
  })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    input: Schema.String,
    output: Schema.String,
    onApproval: (one) => Effect.sync(() => void asked.push(one))
  })
  return { asked, durable, paid: () => paid, requests: model.asked }
}

const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds * 4; i++) {
      for (let k = 0; k < 6; k++) yield* calm
      yield* TestClock.adjust(250)
    }
  })

type Driver = MessageStorage.MemoryDriver["Service"]

/** Deletes the replies to messages, or the messages as well; gives how many there were. */
const deleting = ({ journal, requests, requestsByPrimaryKey }: Driver, what: RegExp, all: boolean): number => {
  const found = [...requestsByPrimaryKey].filter(([key, { replies }]) => what.test(key) && replies.length > 0)
  for (const [key, entry] of found) {
    entry.replies = []
    if (!all) continue
    requestsByPrimaryKey.delete(key)
    requests.delete(entry.envelope.requestId)
    journal.splice(journal.indexOf(entry.envelope), 1)
  }
  return found.length
}

interface Loss {
  readonly what: RegExp
  readonly all: boolean
  /** How many decisions come before it. */
  readonly behind: number
  readonly says: string
}

const losses: Readonly<Record<string, Loss>> = {
  "the reply of a model": {
    what: /\/1\/model\/1\/1$/,
    all: false,
    behind: 0,
    says: "/1/model/1' is gone from its storage"
  },
  "the result of an unsafe tool": { what: /\/run\/1\/1$/, all: false, behind: 0, says: "/run/1' is gone" },
  "who was asked": { what: /\/requested\/1$/, all: false, behind: 0, says: "/requested' is gone" },
  "all steps": { what: /\/activity\//, all: true, behind: 0, says: "what was recorded of its steps is gone" },
  "the first step": { what: /\/activity\/begin\/1$/, all: true, behind: 0, says: "what was recorded of its steps" },
  "all of an unsafe tool": {
    what: /\/activity\/.*\/run\/1(\/intent)?\/1$/,
    all: true,
    behind: 0,
    says: "/run/1' had begun is gone"
  },
  "a decision": { what: /\/deferred\/(?!.*\/waiting\/noted).*\/approval\//, all: true, behind: 1, says: "what ended '" }
}

const run = (loss: Loss | undefined) =>
  Effect.gen(function* () {
    const { asked, durable, paid, requests } = story()
    const { driver, join } = yield* clusterOfRows
    const one = yield* join(durable.layer)
    yield* passing(3)
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "a", input: "go" }), one.context)
    yield* passing(3)
    const decide = (nth: number, runner: typeof one) => {
      const request = asked[nth] ?? assert.fail(`no request came for the ${nth + 1}. time`)
      return Effect.andThen(
        Effect.provideContext(Durable.decide(durable, request, Approval.approve), runner.context),
        passing(5)
      )
    }
    const behind = loss?.behind ?? 0
    if (behind > 0) yield* decide(0, one)
    const before = { paid: paid(), requests: requests(), asked: asked.length }
    const stopping = yield* Effect.forkChild(one.stop)
    yield* passing(20)
    yield* Fiber.join(stopping)
    const deleted = loss === undefined ? 0 : deleting(driver, loss.what, loss.all)
    // in another process, where nothing is remembered
    const two = yield* join(durable.layer)
    yield* passing(5)
    yield* decide(behind, two)
    if (loss === undefined) yield* decide(1, two)
    yield* passing(60)
    const end = Option.getOrUndefined(yield* Effect.provideContext(Durable.poll(durable, id), two.context))
    const exit = end?._tag === "Complete" ? end.exit : undefined
    return { after: { paid: paid(), requests: requests(), asked: asked.length }, before, deleted, exit, id }
  })

describe("a durable run", () => {
  // Finds out nothing of its own: it is the run of the tests below, with all of its rows
  it.effect("that has lost nothing comes to its end in another process [P1398]", () =>
    Effect.gen(function* () {
      const { after, before, exit } = yield* run(undefined)
      assert.deepStrictEqual(before, { paid: 1, requests: 2, asked: 1 })
      assert.deepStrictEqual(exit === undefined ? exit : Exit.getSuccess(exit), Option.some("done"))
      assert.deepStrictEqual(after, { paid: 1, requests: 4, asked: 2 })
    })
  )

  for (const [name, loss] of Object.entries(losses)) {
    it.effect(`ends as lost where ${name} is deleted: nothing is repeated [P1398]`, () =>
      Effect.gen(function* () {
        const { after, before, deleted, exit, id } = yield* run(loss)
        assert.isAbove(deleted, 0, name)
        if (exit === undefined || Exit.isSuccess(exit)) return assert.fail(`it has not failed: ${String(exit)}`)
        const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
        assert.instanceOf(error, DoorError.RunLostError)
        assert.strictEqual(error.executionId, id)
        assert.include(error.message, loss.says)
        assert.strictEqual(KintsugiError.toProblem(error).status, 410)
        assert.deepStrictEqual(after, before)
      })
    )
  }

  it.effect("whose status is lost fails with RunLostError: polled, resumed, decided about [P1398]", () =>
    Effect.gen(function* () {
      const { asked, durable, paid } = story()
      const { driver, join, storage } = yield* clusterOfRows
      const one = yield* join(durable.layer)
      yield* passing(3)
      const id = yield* Effect.provideContext(Durable.start(durable, { id: "a", input: "go" }), one.context)
      const other = yield* Effect.provideContext(Durable.start(durable, { id: "b", input: "go" }), one.context)
      yield* passing(3)
      const first = asked.find(({ executionId }) => executionId === id)
      if (first === undefined) return assert.fail("no request came")
      const resultOf = <A, E>(effect: Effect.Effect<A, E, WorkflowEngine>) =>
        Effect.gen(function* () {
          const seeing = Effect.provideService(effect, MessageStorage.MessageStorage, storage)
          const fiber = yield* Effect.forkChild(Effect.result(Effect.provideContext(seeing, one.context)))
          yield* passing(3)
          return yield* Fiber.join(fiber)
        })
      const suspended = yield* resultOf(Durable.poll(durable, id))
      assert.strictEqual(
        suspended._tag === "Success" ? Option.getOrUndefined(suspended.success)?._tag : undefined,
        "Suspended"
      )
      assert.strictEqual(deleting(driver, new RegExp(`/${id}/run/$`), false), 1)
      for (const request of [
        resultOf(Durable.poll(durable, id)),
        resultOf(Durable.resume(durable, id)),
        resultOf(Durable.decide(durable, first, Approval.approve))
      ]) {
        const result = yield* request
        if (result._tag === "Success") return assert.fail("it was taken for a run that goes on")
        assert.instanceOf(result.failure, DoorError.RunLostError)
        assert.strictEqual(result.failure.executionId, id)
        assert.include(result.failure.message, "its status is gone from its storage")
      }
      const still = yield* resultOf(Durable.poll(durable, other))
      assert.strictEqual(still._tag, "Success")
      assert.strictEqual(paid(), 2)
    })
  )
})

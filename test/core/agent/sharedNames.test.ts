/** The names by which another copy of the package in the same process finds what this one has made. */
import { assert, it } from "@effect/vitest"
import { Agent, Backoff, Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { Effect, Schema, Stream } from "effect"
import { Approvals, Conversation } from "../../../packages/core/src/data/Grants.ts"
import { Digest } from "../../../packages/core/src/data/Digest.ts"
import { Signing } from "../../../packages/core/src/data/Signing.ts"
import * as Room from "../../../packages/core/src/event/Room.ts"
import * as RunContext from "../../../packages/core/src/event/RunContext.ts"
import * as Interception from "../../../packages/core/src/model/Interception.ts"
import { Latest } from "../../../packages/core/src/recovery/RetryBudget.ts"
import { ResultStore } from "../../../packages/core/src/tool/Aside.ts"

const service = (name: string): Model.Service => ({
  name,
  provider: "p",
  generate: () => Effect.die("not asked for here"),
  stream: () => Stream.die("not asked for here")
})

const tool = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
})

it("a value has a mark that every copy of the package knows", () => {
  for (const [value, ...names] of [
    [Agent.make("a", {}), "Agent", "Cost", "MayBeUnsafe", "Reads"],
    [Model.fallback(service("a"), service("b")), "Model/Composed", "Model/Explains"],
    [Backoff.make({ retries: 1 }), "Backoff/MaxHint"],
    [Recovery.tell(), "Recovery"],
    [tool, "Tool"]
  ] as const) {
    for (const name of names) assert.isTrue(Reflect.has(value, Symbol.for(`~@kintsugi/core/${name}`)), name)
  }
})

it("a service has a key that every copy of the package knows", () => {
  for (const [{ key }, name] of [
    [Model.Model, "Model"],
    [Model.RealCalls, "Model/RealCalls"],
    [Model.Resending, "Model/Resending"],
    [Interception.Current, "Interception/Current"],
    [RunContext.Current, "RunContext/Current"],
    [Room.Current, "Room"],
    [Snapshot.Claims, "Snapshot/Claims"],
    [Signing, "Snapshot/Signing"],
    [Approvals, "Approval/Approvals"],
    [Conversation, "Approval/Conversation"],
    [Digest, "Approval/Digest"],
    [ResultStore, "Tool/ResultStore"],
    [Latest, "RetryBudget/Latest"]
  ] as const)
    assert.strictEqual(key, `@kintsugi/core/${name}`)
})

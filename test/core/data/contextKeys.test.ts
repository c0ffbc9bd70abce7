/** The names under which core has services and references in a context: two copies of the library in one process share them. */
import { assert, it } from "@effect/vitest"
import { Approval, Model } from "@kintsugi/core"
import { Digest } from "../../../packages/core/src/data/Digest.ts"
import { Approvals, Conversation } from "../../../packages/core/src/data/Grants.ts"
import { Signing } from "../../../packages/core/src/data/Signing.ts"
import * as Room from "../../../packages/core/src/event/Room.ts"
import * as RunContext from "../../../packages/core/src/event/RunContext.ts"
import * as Interception from "../../../packages/core/src/model/Interception.ts"
import { Latest } from "../../../packages/core/src/recovery/RetryBudget.ts"
import { ResultStore } from "../../../packages/core/src/tool/Aside.ts"

it("services and references of core have the names that other copies of it use", () => {
  const names = [
    [Approval.Approver, "Approver"],
    [Approvals, "Approval/Approvals"],
    [Conversation, "Approval/Conversation"],
    [Digest, "Approval/Digest"],
    [Interception.Current, "Interception/Current"],
    [Latest, "RetryBudget/Latest"],
    [Model.Model, "Model"],
    [Model.RealCalls, "Model/RealCalls"],
    [ResultStore, "Tool/ResultStore"],
    [Room.Current, "Room"],
    [RunContext.Current, "RunContext/Current"],
    [RunContext.Observers, "RunContext/Observers"],
    [Signing, "Snapshot/Signing"]
  ] as const
  for (const [{ key }, name] of names) assert.strictEqual(key, `@kintsugi/core/${name}`)
})

/** What tools of ours are as a toolkit of `effect/ai`, for the compiler. */
import type * as Agent from "@kintsugi/core/Agent"
import type { Approver } from "@kintsugi/core/Approver"
import type { BudgetExceededError } from "@kintsugi/core/RunError"
import type * as Tool from "@kintsugi/core/Tool"
import type * as AiTool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Told } from "./told.ts"

/** A call is a run of its own, with this tool alone. */
type Call<T extends Tool.AnyTool> = ReturnType<Agent.Agent<string, string, BudgetExceededError, never, T>>

/** What is left of the failures of a call behind the tool's own table. */
export type Left<T extends Tool.AnyTool> = Effect.Error<Call<T>>

/** What a call needs: who approves of it is `effect/ai`'s business. */
export type Needs<T extends Tool.AnyTool> = Exclude<Effect.Services<Call<T>>, Approver>

export type Declared<T extends Tool.AnyTool, Mode extends AiTool.FailureMode> = AiTool.Tool<
  Tool.NameOf<T>,
  {
    readonly parameters: Schema.Codec<unknown, unknown>
    readonly success: Schema.Codec<Tool.SuccessOf<T> | (Mode extends "error" ? Told : never), unknown>
    readonly failure: Schema.Codec<Left<T> | (Mode extends "return" ? Told : never), unknown>
    readonly failureMode: Mode
  }
>

export type ByName<T extends Tool.AnyTool, Mode extends AiTool.FailureMode> = {
  readonly [Name in Tool.NameOf<T>]: Declared<Extract<T, { readonly name: Name }>, Mode>
}

/** A built-in tool ends a run, and there is none. */
export type Callable<T> = T extends Tool.AnyTool ? (Tool.SideEffectsOf<T> extends "builtin" ? never : T) : never

export interface Made<T extends Tool.AnyTool, Mode extends AiTool.FailureMode> {
  readonly toolkit: Toolkit.Toolkit<ByName<T, Mode>>
  /** The handlers. */
  readonly layer: Layer.Layer<AiTool.HandlersFor<ByName<T, Mode>>, never, Needs<T>>
}

/** The types of the toolkit that `toToolkit` makes from tools of this library. */
import type * as Agent from "@kintsugi/core/Agent"
import type { Approver } from "@kintsugi/core/Approval"
import type { BudgetExceededError } from "@kintsugi/core/RunError"
import type * as Tool from "@kintsugi/core/Tool"
import type * as AiTool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { TextResult } from "./textResult.ts"

/** The type of a call's run, by an agent that has this tool alone. */
type Call<T extends Tool.AnyTool> = ReturnType<Agent.Agent<string, string, BudgetExceededError, never, T>>

/** The failures of a call that the tool's own table does not handle. */
export type Left<T extends Tool.AnyTool> = Effect.Error<Call<T>>

/** The requirements of a call, without an `Approver`, because `effect/ai` asks for approval. */
export type Needs<T extends Tool.AnyTool> = Exclude<Effect.Services<Call<T>>, Approver>

export type Declared<T extends Tool.AnyTool, Mode extends AiTool.FailureMode> = AiTool.Tool<
  Tool.NameOf<T>,
  {
    readonly parameters: Schema.Codec<unknown, unknown>
    readonly success: Schema.Codec<Tool.SuccessOf<T> | (Mode extends "error" ? TextResult : never), unknown>
    readonly failure: Schema.Codec<Left<T> | (Mode extends "return" ? TextResult : never), unknown>
    readonly failureMode: Mode
  }
>

export type ByName<T extends Tool.AnyTool, Mode extends AiTool.FailureMode> = {
  readonly [Name in Tool.NameOf<T>]: Declared<Extract<T, { readonly name: Name }>, Mode>
}

/** The tool, if it can be called alone. Built-in tools cannot, because they end the run of an agent. */
export type Callable<T> = T extends Tool.AnyTool ? (Tool.SideEffectsOf<T> extends "builtin" ? never : T) : never

/**
 * Tools of this library as a toolkit of `effect/ai`, with the layer of its handlers.
 *
 * @hidden
 */
export interface ToolsAsToolkit<T extends Tool.AnyTool, Mode extends AiTool.FailureMode> {
  readonly toolkit: Toolkit.Toolkit<ByName<T, Mode>>
  /** The layer with the handlers of the toolkit. */
  readonly layer: Layer.Layer<AiTool.HandlersFor<ByName<T, Mode>>, never, Needs<T>>
}

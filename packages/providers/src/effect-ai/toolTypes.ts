/** The types of the tools that `fromToolkit` makes from a toolkit of `effect/ai`. */
import type * as Recovery from "@kintsugi/core/Recovery"
import type * as Tool from "@kintsugi/core/Tool"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import type * as AiTool from "effect/ai/Tool"
import type * as Schema from "effect/Schema"

export type AnyTools = Record<string, AiTool.Any>

/** Options of `fromToolkit`: facts about the tools that TypeScript cannot read from the annotations of a toolkit. */
export interface Options<Tools extends AnyTools> {
  /** The side effects of tools, by name. They override the annotations of the tools. */
  readonly sideEffects?: { readonly [Name in keyof Tools]?: Recovery.SideEffects }
  /**
   * The names of tools that need approval. It must have every tool with `needsApproval`, so that the type of an agent with these tools
   * requires an `Approver`. A named tool without `needsApproval` needs approval for each call.
   */
  readonly approvals?: ReadonlyArray<keyof Tools>
}

/** The type of the options, in which the name of a tool that the toolkit does not have is a type error. */
export type DeclaredNames<O, Tools> = {
  readonly [K in keyof O]: K extends "sideEffects"
    ? { readonly [Name in keyof O[K]]: Name extends keyof Tools ? unknown : never }
    : K extends "approvals"
      ? unknown
      : never
}

/**
 * The tools of the toolkit that have a handler, by name, as tools of this library.
 *
 * @hidden
 */
export type ToolkitTools<Tools extends AnyTools, O> = {
  readonly [Name in keyof Tools as AiTool.RequiresHandler<Tools[Name]> extends true ? Name : never]: [
    ServicesOfSchemas<Tools[Name]>
  ] extends [never]
    ? ToolkitTool<Tools[Name], EffectsOf<O, Name>, Approval<O, Name>>
    : SchemasMustNotNeedServices<ServicesOfSchemas<Tools[Name]>>
}

type ServicesOfSchemas<T> =
  | AiTool.SchemaServices<T>
  | AiTool.ResultDecodingServices<T>
  | AiTool.ParametersEncodingServices<T>

interface SchemasMustNotNeedServices<R> {
  readonly services: R
}

/** The type of one tool of a toolkit, as a tool of this library. */
type ToolkitTool<T extends AiTool.Any, S, Approval> = Tool.Tool<
  Tool.NameFor<T["name"]>,
  AiTool.Parameters<T>,
  AiTool.Success<T>,
  AiTool.Failure<T> | ExecutionError,
  AiTool.Handler<T["name"]> | AiTool.Requirements<T>,
  Recovery.Merge<{ readonly "~storedFailures": true }, Recovery.Merge<ReturnedFailures<T>, Approval>>,
  S
>

/** The table of a tool with `failureMode: "return"`: it tells failures to the model, unless another table overrides it. */
type ReturnedFailures<T> =
  T extends AiTool.Tool<string, { readonly failureMode: infer Mode } & AnyConfig, unknown>
    ? Mode extends "return"
      ? { readonly orElse: Recovery.Verdict<unknown, never, never, never, "told"> }
      : {}
    : {}

interface AnyConfig {
  readonly parameters: Schema.Constraint
  readonly success: Schema.Constraint
  readonly failure: Schema.Constraint
  readonly failureMode: AiTool.FailureMode
}

type EffectsOf<O, Name> = O extends { readonly sideEffects: infer Said }
  ? Name extends keyof Said
    ? Said[Name]
    : "undeclared"
  : "undeclared"

type Approval<O, Name> = O extends { readonly approvals: ReadonlyArray<infer Named> }
  ? Name extends Named
    ? Tool.NeedsApproval
    : {}
  : {}

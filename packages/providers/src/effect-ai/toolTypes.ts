/** What a toolkit of `effect/ai` is as tools, for the compiler. */
import type * as Recovery from "@kintsugi/core/Recovery"
import type * as Tool from "@kintsugi/core/Tool"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import type * as AiTool from "effect/ai/Tool"
import type * as Schema from "effect/Schema"

export type AnyTools = Record<string, AiTool.Any>

/** What the annotations of a toolkit cannot say to the compiler. */
export interface Options<Tools extends AnyTools> {
  /** What running a tool twice would do, in the place of what its annotations say. */
  readonly sideEffects?: { readonly [Name in keyof Tools]?: Recovery.SideEffects }
  /**
   * The tools that need approval: all that have a `needsApproval` have to be named, so that an agent with them asks for an
   * `Approver`. One that has none needs it for each call.
   */
  readonly approvals?: ReadonlyArray<keyof Tools>
}

/** Refuses names of tools that are not there. */
export type Known<O, Tools> = {
  readonly [K in keyof O]: K extends "sideEffects"
    ? { readonly [Name in keyof O[K]]: Name extends keyof Tools ? unknown : never }
    : K extends "approvals"
      ? unknown
      : never
}

/** The tools that somebody here runs, by name. */
export type ToolsOf<Tools extends AnyTools, O> = {
  readonly [Name in keyof Tools as AiTool.RequiresHandler<Tools[Name]> extends true ? Name : never]: [
    ServicesOfSchemas<Tools[Name]>
  ] extends [never]
    ? Made<Tools[Name], EffectsOf<O, Name>, Approval<O, Name>>
    : SchemasMustNotNeedServices<ServicesOfSchemas<Tools[Name]>>
}

type ServicesOfSchemas<T> =
  | AiTool.SchemaServices<T>
  | AiTool.ResultDecodingServices<T>
  | AiTool.ParametersEncodingServices<T>

interface SchemasMustNotNeedServices<R> {
  readonly services: R
}

type Made<T extends AiTool.Any, S, Approval> = Tool.Tool<
  Tool.NameFor<T["name"]>,
  AiTool.Parameters<T>,
  AiTool.Success<T>,
  AiTool.Failure<T> | ExecutionError,
  AiTool.Handler<T["name"]> | AiTool.Requirements<T>,
  Recovery.Merge<Tool.StoredFailures, Recovery.Merge<Told<T>, Approval>>,
  S
>

/** What a toolkit says of failures as results: the model reads them, unless a table of ours says something else. */
type Told<T> =
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

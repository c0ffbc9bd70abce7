/** The types of a toolkit of `effect/ai` as tools of this library. */
import type * as Recovery from "@kintsugi/core/Recovery"
import type * as Tool from "@kintsugi/core/Tool"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import type * as AiTool from "effect/ai/Tool"
import type * as Schema from "effect/Schema"

export type AnyTools = Record<string, AiTool.Any>

/** Facts that the compiler cannot read from the annotations of a toolkit. */
export interface Options<Tools extends AnyTools> {
  /** What running a tool twice would do. Overrides its annotations. */
  readonly sideEffects?: { readonly [Name in keyof Tools]?: Recovery.SideEffects }
  /**
   * The tools that need approval. Every tool with `needsApproval` must be named, so that an agent with them asks for
   * an `Approver`. A named tool without it needs approval for each call.
   */
  readonly approvals?: ReadonlyArray<keyof Tools>
}

/** Refuses names of tools that the toolkit does not have. */
export type DeclaredNames<O, Tools> = {
  readonly [K in keyof O]: K extends "sideEffects"
    ? { readonly [Name in keyof O[K]]: Name extends keyof Tools ? unknown : never }
    : K extends "approvals"
      ? unknown
      : never
}

/**
 * The tools with a handler, by name.
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

/** One tool of a toolkit, as a tool of this library. */
type ToolkitTool<T extends AiTool.Any, S, Approval> = Tool.Tool<
  Tool.NameFor<T["name"]>,
  AiTool.Parameters<T>,
  AiTool.Success<T>,
  AiTool.Failure<T> | ExecutionError,
  AiTool.Handler<T["name"]> | AiTool.Requirements<T>,
  Recovery.Merge<{ readonly "~storedFailures": true }, Recovery.Merge<ReturnedFailures<T>, Approval>>,
  S
>

/** The failure mode `return` of a toolkit: the model reads failures, unless a table overrides this. */
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

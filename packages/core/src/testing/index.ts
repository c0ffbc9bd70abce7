/**
 * What users need to test their agents and policies. What generates cases stands apart, for it asks for more:
 * `@kintsugi/core/testing/FastCheck` for the package `fast-check`, `@kintsugi/core/testing/Arbitraries` for a part of Effect that
 * is not stable yet.
 */
export * as Eval from "./Eval.ts"
export * as FailureScript from "./FailureScript.ts"
export * as FaultPlan from "./FaultPlan.ts"
export * as FaultSweep from "./FaultSweep.ts"
export { faultSweep } from "./FaultSweep.ts"
export * as Invariants from "./Invariants.ts"
export { noRealModels } from "./NoRealModels.ts"
export * as PolicyData from "./PolicyData.ts"
export * as RecordedEvents from "./RecordedEvents.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
export * as Trace from "./Trace.ts"
export { assertThat, assertWithin, trace } from "./Trace.ts"

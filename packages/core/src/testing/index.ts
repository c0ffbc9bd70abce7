/**
 * The kit for tests of agents and policies. Two modules stand apart, because they need more: `@kintsugi/core/testing/FastCheck` needs the
 * package `fast-check`, and `@kintsugi/core/testing/Arbitraries` a part of Effect that is not stable yet.
 */
export * as Eval from "./Eval.ts"
export * as FailureScript from "./FailureScript.ts"
export * as FaultPlan from "./FaultPlan.ts"
export * as FaultSweep from "./FaultSweep.ts"
export * as Invariants from "./Invariants.ts"
export * as PolicyData from "./PolicyData.ts"
export * as RecordedEvents from "./RecordedEvents.ts"
export * as ScriptedApprover from "./ScriptedApprover.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
export * as Trace from "./Trace.ts"

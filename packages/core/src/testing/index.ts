/** What users need to test their agents. */
export * as ScriptedModel from "./ScriptedModel.ts"

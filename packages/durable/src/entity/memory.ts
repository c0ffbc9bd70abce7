/** The engine of a cluster in memory. */
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as TestRunner from "effect/cluster/TestRunner"
import * as Layer from "effect/Layer"

export const layer = Layer.provideMerge(ClusterWorkflowEngine.layer, TestRunner.layer)

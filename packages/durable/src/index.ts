/** Durable runs, on Effect's own workflow engine. */
export * as Durable from "./Durable.ts"

/** For tests and demonstrations: a real model server on the loopback interface, and recorded exchanges. */
export * as AnyWire from "./wire/AnyWire.ts"
export * as Fault from "./Fault.ts"
export * as LoopbackServer from "./LoopbackServer.ts"
export * as Recording from "./recording/Recording.ts"

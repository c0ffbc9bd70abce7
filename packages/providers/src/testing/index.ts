/** What tests and demonstrations need to play the server: a real one, on the loopback interface. */
export * as Fault from "./Fault.ts"
export * as LoopbackServer from "./LoopbackServer.ts"
export * as OpenAiChatWire from "./OpenAiChatWire.ts"
export * as Split from "./Split.ts"

/** The kinds of tools and the severities of escalations. */
import * as Schema from "effect/Schema"

/** Where a tool does its work. It is in this process, at a service, in a model, or at an MCP server. */
export type Kind = typeof Kind.Type

export const Kind = Schema.Literals(["local", "web-service", "llm", "mcp-tool"])

/** The severity of an escalation. */
export type Severity = typeof Severity.Type

export const Severity = Schema.Literals(["LOW", "MEDIUM", "HIGH", "CRITICAL"])

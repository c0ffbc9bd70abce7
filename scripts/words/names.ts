/** The names that a source declares: of variables, types, parameters, fields, keys, and of kinds of events and of data. */
import { type Node, nodeIn, nodesIn, textIn } from "../syntax.ts"

/** A name, or a text, in a place. */
export interface Named {
  readonly name: string
  readonly offset: number
}

/** Nodes with a key. */
const keyed = new Set([
  "AccessorProperty",
  "MethodDefinition",
  "Property",
  "PropertyDefinition",
  "TSAbstractAccessorProperty",
  "TSAbstractMethodDefinition",
  "TSAbstractPropertyDefinition",
  "TSMappedType",
  "TSMethodSignature",
  "TSPropertySignature"
])

/** The fields of a node that hold a name which it declares, by the type of the node. */
const fields: Readonly<Record<string, ReadonlyArray<string>>> = {
  ArrayPattern: ["elements"],
  CatchClause: ["param"],
  ExportAllDeclaration: ["exported"],
  ImportDefaultSpecifier: ["local"],
  ImportNamespaceSpecifier: ["local"],
  LabeledStatement: ["label"],
  RestElement: ["argument"],
  TSIndexSignature: ["parameters"],
  TSInferType: ["typeParameter"],
  TSNamedTupleMember: ["label"],
  TSParameterProperty: ["parameter"]
}

/** The names that a node declares. */
export const declaredAt = (node: Node): ReadonlyArray<Named> =>
  [
    ...nodesIn(node, "id"),
    ...nodesIn(node, "params"),
    ...(fields[node.type] ?? []).flatMap((field) => nodesIn(node, field)),
    ...keysOf(node),
    ...aliasesIn(node)
  ].flatMap(named)

/** A shorthand has the name of a variable, which is declared elsewhere. */
const keysOf = (node: Node): ReadonlyArray<Node> => {
  if (!keyed.has(node.type) || node["shorthand"] === true) return []
  const keys = nodesIn(node, "key")
  return node["computed"] === true ? keys.filter(({ type }) => type === "Literal") : keys
}

/** The other names that a pattern, an import or an export gives: `b` of `{ a: b }` and of `{ a as b }`. */
const aliasesIn = (node: Node): ReadonlyArray<Node> => {
  if (node.type === "ImportSpecifier") return differing(node, "imported", "local")
  if (node.type === "ExportSpecifier") return differing(node, "local", "exported")
  if (node.type !== "ObjectPattern") return []
  return nodesIn(node, "properties").flatMap((property) =>
    property["shorthand"] === true ? [] : nodesIn(property, "value")
  )
}

const differing = (node: Node, from: string, to: string): ReadonlyArray<Node> =>
  nodesIn(node, to).filter((one) => textOf(one) !== textOf(nodeIn(node, from)))

const textOf = (node: Node | undefined): string | undefined => textIn(node, "name") ?? textIn(node, "value")

/** A name with a default, in a type parameter or by itself. */
const named = (node: Node): ReadonlyArray<Named> => {
  const inner = nodeIn(node, "left") ?? nodeIn(node, "name") ?? node
  const name = textOf(inner)
  return name === undefined ? [] : [{ name, offset: inner.start }]
}

/** Keys whose texts say what an event or a datum is, or what became of it. */
const discriminants = new Set(["type", "kind", "_tag", "verdict", "by", "status", "outcome", "about", "action"])

/** Functions whose texts name kinds: `event("run-start", …)`, `Schema.TaggedError<E>()("E", …)`. */
const kindOf = /^(?:event|tag|Literals?|Tagged\w+)$/

/** Texts that name a kind of event or of data, in their quotes: `type: "run-start"`. */
export const kindsAt = (node: Node): ReadonlyArray<Named> => {
  if (node.type === "CallExpression" && kindOf.test(calleeOf(node)))
    return nodesIn(node, "arguments").flatMap(literalsOf).map(quoted)
  if (isSet(node)) return literalsOf(node).filter(isKind).map(quoted)
  const key = keyed.has(node.type) ? textOf(nodeIn(node, "key")) : undefined
  if (key === undefined || !discriminants.has(key)) return []
  const annotated = nodeIn(nodeIn(node, "typeAnnotation") ?? node, "typeAnnotation")
  return [nodeIn(node, "value"), annotated].flatMap((one) => (one === undefined ? [] : literalsOf(one).map(quoted)))
}

/** Types of texts, and constant lists of texts: `type Mode = "on" | "off"` and `["on", "off"] as const`. */
const isSet = (node: Node): boolean =>
  node.type === "TSTypeAliasDeclaration" ||
  (node.type === "TSAsExpression" && nodeIn(node, "expression")?.type === "ArrayExpression")

/** Other texts of such a type or list are sentences. */
const isKind = ({ name }: Named): boolean => !/\s/.test(name)

/** A kind may have a word that no name may have. */
const quoted = ({ name, offset }: Named): Named => ({ name: `"${name}"`, offset })

/** Through what a value may be one of several texts. */
const through = [
  "elements",
  "elementType",
  "elementTypes",
  "falseType",
  "literal",
  "trueType",
  "types",
  "typeAnnotation",
  "consequent",
  "alternate",
  "left",
  "right",
  "expression"
]

const literalsOf = (node: Node): ReadonlyArray<Named> =>
  node.type === "Literal"
    ? named(node)
    : /^(?:ArrayExpression|ConditionalExpression|LogicalExpression|ParenthesizedExpression|TS\w+)$/.test(node.type)
      ? through.flatMap((field) => nodesIn(node, field)).flatMap(literalsOf)
      : []

/** The last name of what is called: `b` of `a.b(…)` and of `a.b<C>()(…)`. */
export const calleeOf = (node: Node): string => {
  const callee = nodeIn(node, "callee")
  if (callee === undefined) return ""
  if (callee.type === "CallExpression") return calleeOf(callee)
  return textOf(nodeIn(callee, "property") ?? callee) ?? ""
}

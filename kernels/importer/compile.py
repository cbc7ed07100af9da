"""Compile one Triton or Gluon kernel of somebody else's package, without its package.

Run as `python compile.py JOB.json RESULT.json`. The job is one JSON object:

    package      what to call the package in messages, e.g. "amd-aiter 0.1.7"
    file         the source file that defines the function
    shown        what to call the file in messages
    function     the name of the jit function; "Class.name" for a static method
    target       "gfx942"
    types        parameter -> type: "i32", "i64", "fp32", "*fp32", "*fp8e4b8", ...;
                 "int" takes the parameter's own annotation, or i32 without one
    constexprs   parameter -> value
    attrs        parameter -> [[name, value], ...], e.g. [["tt.divisibility", 16]]
    required     parameters that the function must have
    optional     those of constexprs that the function may lack
    returns      outside function -> the constant that a call to it gives
    options      compiler options, e.g. {"num_warps": 4}
    out          where the code object goes

On success it writes the code object, and one JSON object as the result:

    kernel       the entry point's name
    shared       bytes of LDS that the launch gives it beyond the static ones
    arguments    [{"name", "type"}], those that survive as kernel arguments, in order
    line         source line of the function
    bounds       right-hand sides of the function's `<=` comparisons, as source text
    reads        parameters that the function's body reads
    triton       version of the compiler

The packages import torch and themselves, which may be absent or need a GPU, so they
are never imported: the function, the jit functions it calls and the module constants
it reads are taken out by syntax tree and written to a file of their own. On failure
the result is {"error": "one line"} and the exit status is 3 (the source is not what
was expected), 4 (no usable triton) or 5 (triton refuses it).
"""

import ast
import builtins
import importlib.util
import json
import os
import sys
import tempfile

SOURCE, NO_TRITON, REFUSED = 3, 4, 5


class Failure(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def is_jit(decorator):
    """Whether a decorator is triton.jit, gluon.jit, or a call of one of them."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name == "jit"


def is_gluon(function):
    """Whether a jit function is decorated as Gluon."""
    return any("gluon" in ast.unparse(d) for d in function.decorator_list if is_jit(d))


def bound_names(statement):
    """Names that a module-level statement binds, those of its branches included."""
    names = set()
    stack = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue  # what its body binds is its own
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(a.asname or a.name.split(".")[0] for a in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        stack.extend(ast.iter_child_nodes(node))
    return names


def read_names(node):
    """Names that a node reads anywhere inside."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def outside_names(function):
    """Names that a function takes from its module, where it is defined or when it runs."""
    local = {p.arg for p in ast.walk(function.args) if isinstance(p, ast.arg)}
    inside = set()
    for statement in function.body:
        inside |= read_names(statement)
        local |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    around = read_names(function.args)
    for decorator in function.decorator_list:
        around |= read_names(decorator)
    return (inside - local) | around


def only_jit(function):
    """The function with its jit decorators alone: others wrap the launch, not the kernel."""
    kept = ast.FunctionDef(**{f: getattr(function, f, None) for f in function._fields})
    kept.decorator_list = [d for d in function.decorator_list if is_jit(d)]
    return ast.copy_location(kept, function)


def usable_import(statement, name, where, job):
    """The import, as far as it gives name, in terms of triton and nothing else."""
    for alias in statement.names:
        if (alias.asname or alias.name.split(".")[0]) != name:
            continue
        module = statement.module if isinstance(statement, ast.ImportFrom) else alias.name
        level = getattr(statement, "level", 0)
        top = (module or "").split(".")[0]
        if level == 0 and (top == "triton" or top in sys.stdlib_module_names):
            if isinstance(statement, ast.ImportFrom):
                return ast.ImportFrom(module=module, names=[alias], level=0)
            return ast.Import(names=[alias])
        if name == "triton" and isinstance(statement, ast.ImportFrom) and alias.name == "triton":
            return ast.parse("import triton").body[0]
        if name == "tl" and isinstance(statement, ast.ImportFrom) and alias.name == "tl":
            return ast.parse("import triton.language as tl").body[0]
        if name in job["returns"]:
            return ast.parse("def %s(*_):\n    return %r\n" % (name, job["returns"][name])).body[0]
        raise Failure(SOURCE, "%s needs %r, which comes from %r: only triton and the file itself are at hand" % (where, name, module))
    raise AssertionError(name)


class Imports(ast.NodeTransformer):
    """Rewrites the imports inside a kept branch (a try or an if)."""

    def __init__(self, where, job):
        self.where, self.job = where, job

    def visit_FunctionDef(self, node):
        return only_jit(node)

    def _visit(self, node):
        return [usable_import(node, a.asname or a.name.split(".")[0], self.where, self.job) for a in node.names]

    visit_Import = visit_ImportFrom = _visit


def find_method(tree, name, label, file):
    """A static jit method, put into the module as a function of its own name."""
    owner, name = name.split(".")
    for statement in tree.body:
        if not isinstance(statement, ast.ClassDef) or statement.name != owner:
            continue
        for inner in statement.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == name:
                if any(name in bound_names(s) for s in tree.body):
                    raise Failure(SOURCE, "%s: %s has a %s beside %s.%s" % (label, file, name, owner, name))
                tree.body.append(inner)
                return find_function(tree, name, label, file)
        raise Failure(SOURCE, "%s: class %s in %s has no method %s" % (label, owner, file, name))
    raise Failure(SOURCE, "%s: no class %s in %s" % (label, owner, file))


def find_function(tree, name, label, file):
    if "." in name:
        return find_method(tree, name, label, file)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            if not any(is_jit(d) for d in statement.decorator_list):
                raise Failure(SOURCE, "%s: %s in %s is not a jit function" % (label, name, file))
            return statement
    similar = [s.name for s in tree.body if isinstance(s, ast.FunctionDef) and any(is_jit(d) for d in s.decorator_list)]
    known = ", ".join(similar[:8]) + (", ..." if len(similar) > 8 else "") if similar else "none"
    raise Failure(SOURCE, "%s: no function %s in %s (its jit functions: %s)" % (label, name, file, known))


def extract(tree, function, job):
    """Source text of the function and all of the module that it needs."""
    label = job["package"]
    binders = {}
    for index, statement in enumerate(tree.body):
        for name in bound_names(statement):
            binders.setdefault(name, []).append(index)

    kept = {}  # index of a module-level statement, or (index, name) for one name of an import
    todo = [(function.name, "%s: %s" % (label, function.name))]
    seen = set()
    while todo:
        name, where = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for index in binders.get(name, ()):
            statement = tree.body[index]
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                kept[(index, name)] = usable_import(statement, name, where, job)
                continue
            if isinstance(statement, ast.FunctionDef):
                if not any(is_jit(d) for d in statement.decorator_list):
                    raise Failure(SOURCE, "%s calls %s, which is not a jit function" % (where, name))
                statement = only_jit(statement)
                where_next = "%s: %s" % (label, name)
            else:
                where_next = where
                if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    statement = Imports(where, job).visit(statement)
            kept[(index, "")] = statement
            if isinstance(statement, ast.FunctionDef):
                needs = outside_names(statement)
            else:
                needs = read_names(statement) - bound_names(statement)
            todo.extend((n, where_next) for n in sorted(needs))
        # A name bound nowhere at module level is a local, a parameter or a builtin.
        if name not in binders and name in job["returns"] and not hasattr(builtins, name):
            kept[(-1, name)] = ast.parse("def %s(*_):\n    return %r\n" % (name, job["returns"][name])).body[0]

    body = [kept[key] for key in sorted(kept)]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body=body, type_ignores=[])))


def parameters(function):
    a = function.args
    if a.vararg or a.kwarg:
        raise Failure(SOURCE, "%s takes a variable number of arguments" % function.name)
    return a.posonlyargs + a.args + a.kwonlyargs


def annotated_type(parameter):
    """The integer type that an annotation such as tl.int64 asks for, i32 without one.

    A constexpr that the job gives no value is launched as a runtime i32, as AITER does
    with SplitKV; None means an annotation that is no integer.
    """
    text = ast.unparse(parameter.annotation) if parameter.annotation else ""
    last = text.rsplit(".", 1)[-1].strip("'\"")
    return {"": "i32", "constexpr": "i32", "int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}.get(last)


def signature_of(function, job):
    """Type by parameter, "constexpr" for those that have a value at compile time."""
    label = "%s: %s" % (job["package"], function.name)
    signature = {}
    for parameter in parameters(function):
        name = parameter.arg
        if name in job["constexprs"]:
            signature[name] = "constexpr"
        elif name in job["types"]:
            kind = job["types"][name]
            if kind == "int":
                kind = annotated_type(parameter)
                if kind is None:
                    raise Failure(SOURCE, "%s: parameter %s is annotated %s, not an integer type" % (label, name, ast.unparse(parameter.annotation)))
            signature[name] = kind
        else:
            raise Failure(SOURCE, "%s has a parameter %r that this importer does not know: the kernel's interface has changed" % (label, name))
    for name in list(job["constexprs"]) + job["required"]:
        if name not in signature and name not in job["optional"]:
            raise Failure(SOURCE, "%s has no parameter %r: the kernel's interface has changed" % (label, name))
    return signature


def parse(job):
    file = job["file"]
    try:
        with open(file, encoding="utf-8") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(SOURCE, "%s: cannot read %s: %s" % (job["package"], job["shown"], error)) from None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise Failure(SOURCE, "%s: %s%s is not valid Python: %s" % (job["package"], job["shown"], ":%d" % line if line else "", getattr(error, "msg", error))) from None


def load(text, name, folder):
    """Import the extracted text from a file: triton reads a function's source from one."""
    path = os.path.join(folder, "extracted.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    spec = importlib.util.spec_from_file_location("extracted", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["extracted"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def compile_job(job):
    tree = parse(job)
    function = find_function(tree, job["function"], job["package"], job["shown"])
    signature = signature_of(function, job)
    gluon = is_gluon(function)
    text = extract(tree, function, job)

    # The temporary file's path must not get into the code object: the same source
    # gives the same bytes. Fusing is Triton 3.9's default; later versions differ.
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        if gluon:
            from triton.experimental.gluon._runtime import GluonASTSource as Source
        else:
            from triton.compiler import ASTSource as Source
    except Exception as error:
        raise Failure(NO_TRITON, "%s has no usable triton%s: %s" % (sys.executable, " with Gluon" if gluon else "", error)) from None

    names = list(signature)
    constexprs = {n: v for n, v in job["constexprs"].items() if n in signature}
    attrs = {(names.index(n),): [tuple(a) for a in v] for n, v in job["attrs"].items() if n in signature and signature[n] != "constexpr"}
    with tempfile.TemporaryDirectory() as folder:
        # The compiler's own cache would keep a copy of every kernel in the user's home.
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
        try:
            source = Source(fn=load(text, function.name, folder), signature=signature, constexprs=constexprs, attrs=attrs)
            kernel = triton.compile(source, target=GPUTarget("hip", job["target"], 64), options=dict(job["options"]))
        except Exception as error:
            lines = [l.strip() for l in str(error).splitlines() if l.strip()]
            raise Failure(REFUSED, "%s: triton %s cannot compile %s for %s: %s: %s" % (
                job["package"], triton.__version__, function.name, job["target"], type(error).__name__, lines[-1] if lines else "no message")) from error
        code = kernel.asm["hsaco"]
        with open(job["out"], "wb") as f:
            f.write(code)

    used = set()
    for statement in function.body:
        used |= read_names(statement)
    bounds = []
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.LtE):
            bounds.append(ast.unparse(node.comparators[0]))
    return {
        "kernel": kernel.metadata.name,
        "shared": kernel.metadata.shared,
        "num_warps": kernel.metadata.num_warps,
        "arguments": [{"name": n, "type": t} for n, t in signature.items() if t != "constexpr"],
        "line": function.lineno,
        "bounds": sorted(set(bounds)),
        "reads": [p.arg for p in parameters(function) if p.arg in used],
        "triton": triton.__version__,
    }


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        job = json.load(f)
    for field in ("constexprs", "attrs", "returns", "options", "types"):
        job[field] = job.get(field) or {}
    for field in ("required", "optional"):
        job[field] = job.get(field) or []
    job["shown"] = job.get("shown") or job["file"]
    status = 0
    try:
        result = compile_job(job)
    except Failure as failure:
        status, result = failure.status, {"error": str(failure)}
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(result, f)
    return status


if __name__ == "__main__":
    sys.exit(main())

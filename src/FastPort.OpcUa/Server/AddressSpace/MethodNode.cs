namespace FastPort.OpcUa.Server;

/// <summary>An input or output argument of a method (OPC 10000-3, 8.6).</summary>
/// <param name="Name">The argument's name.</param>
/// <param name="Type">The built-in type; Variant for a value, or an array, of any type.</param>
/// <param name="IsArray">Whether the argument is an array of it. Defaults to false.</param>
/// <param name="Description">The description. Defaults to none.</param>
public sealed record MethodArgument(string Name, BuiltInType Type, bool IsArray = false, LocalizedText Description = default)
{
    /// <summary>Number of the structure's encoding, in namespace 0.</summary>
    internal const ushort EncodingId = NodeIds.ArgumentEncoding;

    internal bool Accepts(in Variant value) => (value.Type == Type || Type == BuiltInType.Variant) && value.IsArray == IsArray;
}

/// <summary>The result of a method.</summary>
/// <param name="Status">The status; the outputs of a bad one are not sent.</param>
/// <param name="Outputs">The output arguments, in order.</param>
public readonly record struct MethodResult(StatusCode Status, params Variant[] Outputs)
{
    /// <summary>A good result.</summary>
    /// <param name="outputs">The output arguments, in order.</param>
    public static MethodResult Good(params Variant[] outputs) => new(StatusCodes.Good, outputs);
}

/// <summary>
/// Serves a method. Begins on the loop of the client's connection, so it must not block; it may return a task that completes later.
/// </summary>
/// <param name="inputs">The input arguments, of the declared types.</param>
/// <param name="cancellationToken">Canceled when the client's connection ends, or the client cancels the call.</param>
public delegate ValueTask<MethodResult> MethodHandler(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken);

/// <summary>A method (OPC 10000-3, 5.7).</summary>
public sealed class MethodNode : Node
{
    internal MethodNode(
        NodeId id,
        QualifiedName browseName,
        IReadOnlyList<MethodArgument> inputs,
        IReadOnlyList<MethodArgument> outputs,
        MethodHandler handler)
        : base(id, NodeClass.Method, browseName)
    {
        Inputs = [.. inputs];
        Outputs = [.. outputs];
        Handler = handler;
    }

    /// <summary>The input arguments.</summary>
    public IReadOnlyList<MethodArgument> Inputs { get; }

    /// <summary>The output arguments.</summary>
    public IReadOnlyList<MethodArgument> Outputs { get; }

    internal MethodHandler Handler { get; }

    /// <summary>Serves a method that concerns the calling session, instead of <see cref="Handler"/>. Null for others.</summary>
    internal Func<ServerSession, RunningCall, ReadOnlyMemory<Variant>, MethodResult>? SessionHandler { get; init; }

    internal override bool TryReadAttribute(AttributeId attribute, out Variant value)
    {
        if (attribute is AttributeId.Executable or AttributeId.UserExecutable)
        {
            value = true;
            return true;
        }

        return base.TryReadAttribute(attribute, out value);
    }
}

namespace FastPort.Framing;

/// <summary>A body that knows the name of its message. Traces show it instead of the message type's number.</summary>
public interface INamedBody : IFrameBody
{
    /// <summary>Name of the message, for example <c>Echo</c>. Read only where a request is traced.</summary>
    string Name { get; }
}

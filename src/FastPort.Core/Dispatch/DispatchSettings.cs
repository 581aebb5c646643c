using FastPort.Sessions;
using FastPort.Sessions.Receiving;

namespace FastPort.Dispatch;

/// <summary>Settings shared by the dispatchers of all sessions of one server or client. Immutable.</summary>
internal sealed class DispatchSettings
{
    public required MessageHandlers Handlers { get; init; }

    /// <summary>Handlers of the framework's own message types (routing); null if there are none.</summary>
    public MessageHandlers? FrameworkHandlers { get; init; }

    /// <summary>Called before each handler; null if every message is allowed.</summary>
    public Authorizer? Authorizer { get; init; }

    public SessionDispatcher Create(FrameProtocol protocol) => new RequestDispatcher(protocol, this);
}

using FastPort.Sessions;
using FastPort.Sessions.Receiving;

namespace FastPort.Dispatch;

/// <summary>What the dispatchers of all sessions of one server or client share. Immutable.</summary>
internal sealed class DispatchSettings
{
    public required MessageHandlers Handlers { get; init; }

    /// <summary>Handlers of the framework's own types that are served (routing); null where there are none.</summary>
    public MessageHandlers? FrameworkHandlers { get; init; }

    /// <summary>Asked before each handler; null where everything is allowed.</summary>
    public Authorizer? Authorizer { get; init; }

    /// <summary>Makes the dispatcher of one session.</summary>
    public SessionDispatcher Create(FrameProtocol protocol) => new RequestDispatcher(protocol, this);
}

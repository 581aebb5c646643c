namespace FastPort.Connections;

/// <summary>The server that counts a connection. Called on the thread that ends the connection; must not block or throw.</summary>
internal interface IConnectionOwner
{
    /// <summary>The connection has ended; <see cref="IConnectionProtocol.OnClosed"/> follows.</summary>
    void OnEnding();

    /// <summary><see cref="IConnectionProtocol.OnClosed"/> has returned. Also called if <see cref="OnEnding"/> was not.</summary>
    void OnEnded();
}

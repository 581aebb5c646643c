namespace FastPort.Connections;

/// <summary>Who counts a connection: a server. Called where the connection ends, its protocol's last call apart; must neither block nor
/// throw.</summary>
internal interface IConnectionOwner
{
    /// <summary>The connection is over and its protocol is about to be told.</summary>
    void OnEnding();

    /// <summary>The protocol was told. Also called where <see cref="OnEnding"/> was not.</summary>
    void OnEnded();
}

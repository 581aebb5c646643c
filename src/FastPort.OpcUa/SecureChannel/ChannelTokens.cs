namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The tokens that the peer may use, the oldest first. After a renewal both are valid until the peer uses the new one, or the old one
/// expires (OPC 10000-4, 5.5.2); so are several that were renewed before they were used. Not thread-safe.
/// </summary>
internal sealed class ChannelTokens
{
    // One in use, and renewals that crossed each other in transit.
    private const int Most = 4;

    private readonly List<ChannelToken> _tokens = new(Most);

    /// <summary>The token that the peer last used; null before the channel is open.</summary>
    public ChannelToken? Oldest => _tokens.Count == 0 ? null : _tokens[0];

    /// <summary>The last issued token; null before the channel is open.</summary>
    public ChannelToken? Newest => _tokens.Count == 0 ? null : _tokens[^1];

    public ChannelToken? Find(uint id)
    {
        foreach (ChannelToken token in _tokens)
        {
            if (token.Id == id)
            {
                return token;
            }
        }

        return null;
    }

    /// <summary>Adds a token. If too many were never used, the oldest is dropped.</summary>
    public void Add(ChannelToken token)
    {
        if (_tokens.Count == Most)
        {
            _tokens[1].Security.Dispose();
            _tokens.RemoveAt(1);
        }

        _tokens.Add(token);
    }

    /// <summary>The token after the oldest one; null if there is none.</summary>
    public ChannelToken? Second => _tokens.Count < 2 ? null : _tokens[1];

    /// <summary>Drops the tokens before this one. No sender may use them any longer.</summary>
    public void DropBefore(ChannelToken token)
    {
        while (_tokens[0] != token)
        {
            _tokens[0].Security.Dispose();
            _tokens.RemoveAt(0);
        }
    }

    /// <summary>Drops all tokens.</summary>
    public void Clear()
    {
        _tokens.ForEach(static token => token.Security.Dispose());
        _tokens.Clear();
    }
}

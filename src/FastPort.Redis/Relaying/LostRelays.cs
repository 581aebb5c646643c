using System.Text;
using FastPort.Logging;
using Microsoft.Extensions.Logging;

namespace FastPort.Redis.Relaying;

/// <summary>One-way relays that are lost, until they are logged together. <see cref="_gate"/> guards all fields.</summary>
internal sealed class LostRelays
{
    private readonly Lock _gate = new();
    private int _count;
    private byte[] _target = [];
    private SendStatus _status;

    public void Add(ReadOnlySpan<byte> target, SendStatus status)
    {
        lock (_gate)
        {
            // The line names the first one.
            if (_count++ == 0)
            {
                _target = target.ToArray();
                _status = status;
            }
        }
    }

    /// <summary>Writes one line, if any are lost since the last call.</summary>
    public void Tell(ILogger logger)
    {
        int count;
        string target;
        SendStatus status;
        lock (_gate)
        {
            (count, status) = (_count, _status);

            // The peer has chosen the id: it must not break the line, or send the terminal commands.
            target = PeerText.Escape(Encoding.UTF8.GetString(_target));
            _count = 0;
        }

        if (count != 0)
        {
            BackplaneLog.OneWaysLost(logger, count, target, status);
        }
    }
}

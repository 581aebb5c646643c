using System.Threading.Channels;
using BrowserGame.Messages;
using FastPort;

namespace BrowserGame;

/// <summary>A dot and its player. The room moves it; the session's loop says where to.</summary>
internal sealed class Player(Session session, uint id, string name, float x, float y)
{
    private const uint Colors = 8;
    private readonly Lock _gate = new();
    private float _x = x;
    private float _y = y;
    private (float X, float Y) _target = (x, y);

    public Session Session { get; } = session;

    public uint Id { get; } = id;

    /// <summary>The latest scene: one that the player has not taken is replaced, so the room never waits for a slow reader.</summary>
    public Channel<Scene> Scenes { get; } = Channel.CreateBounded<Scene>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropOldest });

    /// <summary>Sets where the dot goes. Clients are not trusted: the place is within the room, and NaN would spread.</summary>
    public void GoTo(float x, float y)
    {
        if (float.IsFinite(x) && float.IsFinite(y))
        {
            lock (_gate)
            {
                _target = (Math.Clamp(x, 0, GameRoom.Width), Math.Clamp(y, 0, GameRoom.Height));
            }
        }
    }

    /// <summary>Goes a part of the way.</summary>
    public Dot Step(float distance)
    {
        lock (_gate)
        {
            (float dx, float dy) = (_target.X - _x, _target.Y - _y);
            float share = Math.Min(1, distance / MathF.Max(MathF.Sqrt((dx * dx) + (dy * dy)), float.Epsilon));
            _x += dx * share;
            _y += dy * share;
            return new Dot { Id = Id, Name = name, Color = Id % Colors, Place = new Place { X = _x, Y = _y } };
        }
    }
}

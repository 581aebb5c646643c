using System.Text.Json.Serialization;

namespace FastPort.Redis.Peers;

/// <summary>A node's question to another about its sessions.</summary>
internal enum PeerAction
{
    /// <summary>The first sessions by prefix, limit and the id they follow.</summary>
    List,

    /// <summary>The session with an id.</summary>
    Find,

    /// <summary>Close the session with an id; the answer is the session if there was one.</summary>
    Kick,
}

/// <summary>A question. The answer is a list of sessions.</summary>
/// <param name="Action">What is asked.</param>
/// <param name="Id">The routing id, or a prefix.</param>
/// <param name="Limit">Maximum number of sessions of a list.</param>
/// <param name="After">The id that the list follows.</param>
/// <param name="Code">Code for the peer that is closed.</param>
/// <param name="Reason">Sentence for that peer.</param>
internal sealed record PeerQuestion(PeerAction Action, string Id, int Limit = 0, string After = "", uint Code = 0, string Reason = "");

/// <summary>Questions and answers are rare and of many fields, so they are JSON, which later versions can add to.</summary>
[JsonSerializable(typeof(PeerQuestion))]
[JsonSerializable(typeof(PeerInfo[]))]
internal sealed partial class PeerJson : JsonSerializerContext;

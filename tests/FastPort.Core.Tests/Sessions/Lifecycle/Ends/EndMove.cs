using FastPort.Sessions.Lifecycle;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>What one event has done to the end of a session.</summary>
internal readonly record struct EndMove(string Cause, EndState From, EndState To);

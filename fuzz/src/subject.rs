//! What harnesses need of a type, and the laws that any type of them keeps.

use pds_core::{Error, Sketch};

use crate::probe::Probe;

/// A decodable type, and everything that can be done to what was decoded.
pub trait Subject: Sketch<Hasher: Default> {
    /// Asks everything; asserts what is true of any answer.
    fn ask(&self, probe: &Probe);

    /// Changes everything that can be, but for what needs another sketch.
    fn change(&mut self, probe: &Probe);

    /// Forgets everything; does nothing to what is built once.
    fn forget(&mut self) {}

    /// Opens a view of any bytes, if there are views, and asks it everything. A view that passes its verification has to
    /// be of what `decoded` is.
    fn look(_bytes: &[u8], _decoded: Option<&Self>, _probe: &Probe) {}

    /// Takes the other in; `None` if such sketches do not merge.
    fn join(&mut self, _other: &Self) -> Option<Result<(), Error>> {
        None
    }
}

/// Decodes, and asserts that views agree, that the bytes come back, and that the sketch answers and changes.
pub(crate) fn hold<S: Subject>(bytes: &[u8], probe: &Probe) -> Result<S, Error> {
    let decoded = <S as Sketch>::from_bytes(bytes);
    S::look(bytes, decoded.as_ref().ok(), probe);
    let sketch = decoded?;
    assert!(sketch.to_bytes() == bytes, "{:?} decodes from bytes that it does not have", S::KIND);
    sketch.ask(probe);
    assert!(sketch.to_bytes() == bytes, "{:?} changes by being asked", S::KIND);

    let mut changed = again::<S>(bytes);
    changed.change(probe);
    changed.ask(probe);
    recoded(&changed).ask(probe);
    changed.forget();
    changed.ask(probe);
    recoded(&changed).change(probe);
    Ok(sketch)
}

/// Decodes what has been decoded before.
pub(crate) fn again<S: Subject>(bytes: &[u8]) -> S {
    match <S as Sketch>::from_bytes(bytes) {
        Ok(sketch) => sketch,
        Err(error) => panic!("{:?} is refused: {error}", S::KIND),
    }
}

/// The sketch of a sketch's bytes, which has the same bytes.
pub(crate) fn recoded<S: Subject>(sketch: &S) -> S {
    let bytes = sketch.to_bytes();
    let recoded = again::<S>(&bytes);
    assert!(recoded.to_bytes() == bytes, "decoding changes the bytes of {:?}", S::KIND);
    recoded
}

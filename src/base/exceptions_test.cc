#include "base/exceptions.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "base/check.h"

namespace candor {
namespace {

TEST(StatusOfException, EveryKind) {
  const Status bug = StatusOfException("engine", std::make_exception_ptr(CheckFailure("rows > 0")));
  EXPECT_EQ(bug.code(), StatusCode::kInternal);
  EXPECT_NE(bug.message().find("engine: rows > 0"), std::string::npos);
  EXPECT_EQ(StatusOfException("a", std::make_exception_ptr(std::bad_alloc())).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(StatusOfException("a", std::make_exception_ptr(std::length_error("x"))).code(), StatusCode::kInternal);
  EXPECT_EQ(StatusOfException("a", std::make_exception_ptr(5)).code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace candor
